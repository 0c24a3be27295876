// The built-in tools on an agent's memory: results and errors word for word (reference: resources §5.3–5.5).
#define CAF_SUITE base_tools
#include "core/tools/base_tools.hpp"

#include "core/prompt/system_prompt.hpp"
#include "core/tools/core_tools.hpp"
#include "core/tools/packaging.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture {
  fixture() { reset(); }

  void reset() {
    auto fixed = make_block("fixed", "never");
    fixed.read_only = true;
    auto kept = make_block("a/b", "slash");
    blocks = tools::memory({make_block("notes", "one\ntwo\none"), fixed, kept, make_block("old", "gone")});
  }

  // What a tool returns: the text as a client sees it, errors with ! and their line behind.
  std::string call(std::string_view name, std::string_view arguments) {
    tools::tool_context context{self, blocks, env, [this](const tools::search_query& q) {
                                  query = q;
                                  return found;
                                }};
    auto r = tools::run_core_tool(name, object(arguments), context);
    auto text = r.returned.is_object() ? json::print(r.returned) : json::python_str(r.returned);
    if (r.status == return_status::success) return text;
    CAF_CHECK(r.stderr_ && r.stderr_->size() == 1);
    auto line = r.stderr_->front();
    auto start = "Error executing function " + std::string(name) + ": ";
    CAF_CHECK(line.starts_with(start));
    CAF_CHECK(line.ends_with(": " + text));
    return "!" + line.substr(start.size());
  }
  // What the call left of a block.
  std::string value(std::string_view label) {
    auto* b = blocks.find(label);
    return b ? b->value : "(none)";
  }

  agent self;
  tools::memory blocks{{}};
  fixed_environment env;
  tools::search_query query;
  std::vector<std::shared_ptr<const message>> found;
};

struct row {
  const char* tool;
  const char* arguments;
  std::string returned;
  const char* left = "one\ntwo\none"; // of the block `notes`
};

const std::string start = "one\ntwo\none";
const std::string no_block =
    "!KeyError: 'Block field x does not exist (available sections = notes, fixed, a/b, old)'";
const std::string read_only = "!ValueError: Error This block is read-only and cannot be edited.";
const std::string numbers =
    " contains a line number prefix, which is not allowed. Do not include line numbers when calling memory "
    "tools (line numbers are for display purposes only).";

void check(fixture& f, const std::vector<row>& rows) {
  for (auto& r : rows) {
    f.reset();
    CAF_MESSAGE(r.tool << r.arguments);
    CAF_CHECK_EQUAL(f.call(r.tool, r.arguments), r.returned);
    CAF_CHECK_EQUAL(f.value("notes"), r.left);
    if (r.returned.starts_with("!")) CAF_CHECK(f.blocks.edits().empty());
  }
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(base_tool_tests, fixture)

CAF_TEST(simple edits) {
  check(
      *this,
      {
          {"core_memory_append", R"({"label":"notes","content":"three"})", "one\ntwo\none\nthree",
           "one\ntwo\none\nthree"},
          {"core_memory_append", R"({"label":"x","content":"three"})", no_block},
          {"core_memory_append", R"({"label":"fixed","content":"three"})", read_only},
          {"core_memory_replace", R"({"label":"notes","old_content":"one","new_content":"1"})", "1\ntwo\n1",
           "1\ntwo\n1"},
          {"core_memory_replace", R"({"label":"notes","old_content":"\ntwo","new_content":""})", "one\none",
           "one\none"},
          {"core_memory_replace", R"({"label":"notes","old_content":"four","new_content":""})",
           "!ValueError: Old content 'four' not found in memory block 'notes'"},
          {"core_memory_replace", R"({"label":"fixed","old_content":"never","new_content":""})", read_only},
          {"memory_replace", R"({"label":"notes","old_string":"two","new_string":"2\n2"})", "one\n2\n2\none",
           "one\n2\n2\none"},
          {"memory_replace", R"({"label":"notes","old_string":"four","new_string":"4"})",
           "!ValueError: No replacement was performed, old_string `four` did not appear verbatim in memory "
           "block with label `notes`."},
          {"memory_replace", R"({"label":"notes","old_string":"one","new_string":"4"})",
           "!ValueError: No replacement was performed. Multiple occurrences of old_string `one` in lines [1, "
           "3]. Please ensure it is unique."},
          {"memory_replace", R"({"label":"notes","old_string":"1→ one","new_string":"4"})",
           "!ValueError: old_string" + numbers},
          {"memory_replace", R"({"label":"notes","old_string":"two","new_string":"a\n  12→ b"})",
           "!ValueError: new_string" + numbers},
          {"memory_replace", R"({"label":"x","old_string":"one","new_string":"4"})", no_block},
          {"memory_replace", R"({"label":"fixed","old_string":"never","new_string":"4"})", read_only},
          {"memory_insert", R"({"label":"notes","new_string":"end"})", "one\ntwo\none\nend",
           "one\ntwo\none\nend"},
          {"memory_insert", R"({"label":"notes","new_string":"end","insert_line":-1})", "one\ntwo\none\nend",
           "one\ntwo\none\nend"},
          {"memory_insert", R"({"label":"notes","new_string":"top","insert_line":0})", "top\none\ntwo\none",
           "top\none\ntwo\none"},
          {"memory_insert", R"({"label":"notes","new_string":"end","insert_line":3})", "one\ntwo\none\nend",
           "one\ntwo\none\nend"},
          {"memory_insert", R"({"label":"notes","new_string":"x","insert_line":4})",
           "!ValueError: Invalid `insert_line` parameter: 4. It should be within the range of lines of the "
           "memory block: [0, 3], or -1 to append to the end of the memory block."},
          {"memory_insert", R"({"label":"notes","new_string":"x","insert_line":-2})",
           "!ValueError: Invalid `insert_line` parameter: -2. It should be within the range of lines of the "
           "memory block: [0, 3], or -1 to append to the end of the memory block."},
          {"memory_insert", R"({"label":"notes","new_string":"1→ x"})", "!ValueError: new_string" + numbers},
          {"memory_rethink", R"({"label":"notes","new_memory":"anew"})", "anew", "anew"},
          {"memory_rethink", R"({"label":"notes","new_memory":"3→ anew"})",
           "!ValueError: new_memory" + numbers},
          {"memory_rethink", R"({"label":"x","new_memory":"anew"})", no_block},
          {"memory_finish_edits", "{}", "None"},
          {"send_message", R"({"message":"hi"})", "Sent message successfully."},
      });
}

CAF_TEST(tabs count as blanks to the next eighth column) {
  blocks = tools::memory({make_block("notes", "a\tb")});
  CAF_CHECK_EQUAL(call("memory_replace", R"({"label":"notes","old_string":"a\tb","new_string":"c\td"})"),
                  "c       d");
}

CAF_TEST(wrong calls) {
  check(
      *this,
      {
          {"memory_insert", "{}",
           "!TypeError: LettaCoreToolExecutor.memory_insert() missing 2 required positional arguments: "
           "'label' and 'new_string'"},
          {"memory_replace", "{}",
           "!TypeError: LettaCoreToolExecutor.memory_replace() missing 3 required positional arguments: "
           "'label', 'old_string', and 'new_string'"},
          {"memory_rethink", R"({"label":"notes"})",
           "!TypeError: LettaCoreToolExecutor.memory_rethink() missing 1 required positional argument: "
           "'new_memory'"},
          {"memory_finish_edits", R"({"x":1})",
           "!TypeError: LettaCoreToolExecutor.memory_finish_edits() got an unexpected keyword argument 'x'"},
          {"no_such", "{}", "!ValueError: Unknown function: no_such"},
      });
}

CAF_TEST(memory with its commands) {
  auto recompiled = [](std::string_view how) {
    return " Your system prompt has been recompiled " + std::string(how) +
           " and is now active in your context.";
  };
  check(
      *this,
      {
          {"memory",
           R"({"command":"str_replace","path":"/memories/notes","old_string":"two","new_string":"2"})",
           "one\n2\none", "one\n2\none"},
          {"memory",
           R"({"command":"str_replace","path":"/memories/a/b","old_string":"slash","new_string":"2"})", "2"},
          {"memory", R"({"command":"str_replace","path":"/fixed","old_string":"never","new_string":"2"})",
           read_only},
          {"memory", R"({"command":"str_replace","path":"/x","old_string":"never","new_string":"2"})",
           "!ValueError: Error: Memory block 'x' does not exist"},
          {"memory", R"({"command":"str_replace","path":"/notes","new_string":"2"})",
           "!ValueError: Error: old_string is required for str_replace command"},
          {"memory", R"({"command":"insert","path":"notes","insert_text":"top","insert_line":0})",
           "top\none\ntwo\none", "top\none\ntwo\none"},
          {"memory", R"({"command":"insert","path":"notes","insert_text":"end","insert_line":null})",
           "one\ntwo\none\nend", "one\ntwo\none\nend"},
          {"memory", R"({"command":"insert","path":"notes","insert_text":"1→ a"})",
           "!ValueError: insert_text" + numbers},
          {"memory", R"({"command":"insert","path":"a/b","insert_text":"x"})",
           "!ValueError: Error: Memory block 'a_b' does not exist"},
          {"memory", R"({"command":"insert","path":"notes"})",
           "!ValueError: Error: insert_text is required for insert command"},
          {"memory", R"({"command":"create","path":"/memories/new/one","description":"d","file_text":"v"})",
           "Successfully created memory block 'new/one'." + recompiled("with the new memory block")},
          {"memory", R"({"command":"create","path":"/memories/notes","description":"d"})",
           "!ValueError: Error: Memory block 'notes' already exists"},
          {"memory", R"({"command":"create","path":"/memories/q"})",
           "!ValueError: Error: description is required for create command"},
          {"memory", R"({"command":"delete","path":"/memories/notes"})",
           "Successfully deleted memory block 'notes'." + recompiled("without this memory block"), "(none)"},
          {"memory", R"({"command":"delete","path":"/memories/x"})",
           "!ValueError: Error: Memory block 'x' does not exist"},
          {"memory", R"({"command":"delete"})", "!ValueError: Error: path is required for delete command"},
          {"memory", R"({"command":"rename","old_path":"/memories/notes","new_path":"/memories/lines"})",
           "Successfully renamed memory block 'notes' to 'lines'." +
               recompiled("with the renamed memory block"),
           "(none)"},
          {"memory", R"({"command":"rename","old_path":"/memories/notes","new_path":"/memories/fixed"})",
           "!ValueError: Error: Memory block 'fixed' already exists"},
          {"memory", R"({"command":"rename","path":"/memories/notes","description":"all"})",
           "Successfully updated description of memory block 'notes'." +
               recompiled("with the updated description")},
          {"memory", R"({"command":"rename","path":"/memories/notes"})",
           "!ValueError: Error: path and description are required for update_description command, or "
           "old_path and new_path are required for rename command"},
          {"memory", R"({"command":"fly"})",
           "!ValueError: Error: Unknown command 'fly'. Supported commands: create, str_replace, insert, "
           "delete, rename"},
      });
}

CAF_TEST(patches of one block) {
  auto patch = [](std::string_view label, const std::string& text) {
    json::object o;
    o["label"] = json::value(boost::json::string(label.data(), label.size()));
    o["patch"] = boost::json::string(text);
    return json::print(json::value(o));
  };
  auto first = patch("notes", "--- a\n+++ b\n@@\n one\n-two\n+2\n"), twice = patch("notes", "@@\n-one\n+1"),
       both = patch("notes", "@@ x\n two\n-one\n+1\n@@ y\n-one\n+uno\n two"),
       end = patch("notes", "+three\n+four"), none = patch("notes", "nothing"),
       gone = patch("notes", "-a\n-b\n-c\n-d\n-e"), numbered = patch("notes", "-1→ one"),
       fixed = patch("fixed", "-never"), x = patch("x", "-never");
  check(*this,
        {
            {"memory_apply_patch", first.c_str(), "one\n2\none", "one\n2\none"},
            {"memory_apply_patch", both.c_str(), "uno\ntwo\n1", "uno\ntwo\n1"},
            {"memory_apply_patch", end.c_str(), "one\ntwo\none\nthree\nfour", "one\ntwo\none\nthree\nfour"},
            {"memory_apply_patch", twice.c_str(),
             "!ValueError: Failed to apply patch: hunk context matched multiple places in the memory block. "
             "Please add more unique surrounding context to disambiguate."},
            {"memory_apply_patch", gone.c_str(),
             "!ValueError: Failed to apply patch: expected hunk context not found in the memory block. "
             "Verify the target lines exist and try providing more context. Expected start:\na\nb\nc\nd"},
            {"memory_apply_patch", none.c_str(),
             "!ValueError: No applicable hunks found in patch. Ensure lines start with ' ', '-', or '+'."},
            {"memory_apply_patch", numbered.c_str(),
             "!ValueError: Patch contains a line number prefix, which is not allowed. Do not include line "
             "numbers (they are for display only)."},
            {"memory_apply_patch", fixed.c_str(), read_only},
            {"memory_apply_patch", x.c_str(), "!ValueError: Error: Memory block 'x' does not exist"},
        });
}

CAF_TEST(patches of several blocks are done wholly or not at all) {
  auto patch = [](const std::string& text) {
    json::object o;
    o["label"] = "notes";
    o["patch"] = boost::json::string(text);
    return json::print(json::value(o));
  };
  const std::string done =
      "Successfully applied memory patch operations. Your system prompt has been recompiled with the updated "
      "memory contents and is now active in your context.\n\nOperations completed:\n";
  CAF_CHECK_EQUAL(call("memory_apply_patch",
                       patch("*** Add Block: plan\nDescription: what to do\n+walk\n+\n+rest\n\n*** Update "
                             "Block: notes\n@@\n-two\n+2\n*** Move to: lines\n*** Delete Block: old\n")),
                  done + "- Created memory block 'plan'\n- Updated memory block 'notes'\n- Renamed memory "
                         "block 'notes' to 'lines'\n- Deleted memory block 'old'");
  CAF_CHECK_EQUAL(value("plan"), "walk\n\nrest");
  CAF_CHECK_EQUAL(blocks.find("plan")->description.value_or(""), "what to do");
  CAF_CHECK_EQUAL(value("lines"), "one\n2\none");
  CAF_CHECK(!blocks.find("old") && !blocks.find("notes"));
  struct {
    const char* patch;
    const char* error;
  } wrong[] = {
      {"*** Update Block: notes\n@@\n-two\n+2\n*** Add Block: fixed\n+x",
       "!ValueError: Error: Memory block 'fixed' already exists"},
      {"*** Update Block: notes\n@@\n-two\n+2\n*** Update Block: fixed\n-never",
       "!ValueError: Error This block is read-only and cannot be edited."},
      {"*** Update Block: notes\n@@\n-two\n+2\n*** Delete Block: fixed",
       "!ValueError: Error This block is read-only and cannot be edited."},
      {"*** Update Block: notes\n@@\n-two\n+2\n*** Update Block: fixed\n*** Move to: x",
       "!ValueError: Error This block is read-only and cannot be edited."},
      {"*** Add Block:\n+x", "!ValueError: *** Add Block: must specify a non-empty label"},
      {"*** Move to: x", "!ValueError: *** Move to: must follow an Add/Update/Delete header"},
  };
  for (auto& w : wrong) {
    reset();
    CAF_CHECK_EQUAL(call("memory_apply_patch", patch(w.patch)), w.error);
    CAF_CHECK_EQUAL(value("notes"), start);
    CAF_CHECK(blocks.edits().empty());
  }
}

CAF_TEST(edits carry the version that they were made on) {
  auto version = blocks.find("notes")->version;
  call("core_memory_append", R"({"label":"notes","content":"a"})");
  call("core_memory_append", R"({"label":"notes","content":"b"})");
  call("memory_rethink", R"({"label":"notes","new_memory":"one\ntwo\none\na\nb"})"); // as it is: no edit
  CAF_REQUIRE_EQUAL(blocks.edits().size(), 2u);
  CAF_CHECK_EQUAL(blocks.edits()[0].base_version, version);
  CAF_CHECK_EQUAL(blocks.edits()[1].base_version, version + 1);
  CAF_CHECK_EQUAL(blocks.edits()[1].text, "one\ntwo\none\na\nb");
}

CAF_TEST(searching the conversation) {
  self.timezone = "America/New_York";
  auto said = make_message(message_role::user, "a plain text");
  said.created_at = at("2026-11-21T06:23:47Z");
  auto reply = make_message(message_role::assistant, "let me think");
  reply.tool_calls = {{"c", "send_message", R"({"message":"hello"})"}};
  reply.created_at = at("2026-11-21T04:00:00.25Z");
  auto packed = make_message(message_role::user, R"({"type":"user_message","message":"m","time":"t"})");
  packed.created_at = at("2026-11-18T06:24:00Z");
  auto search = make_message(message_role::assistant);
  search.tool_calls = {{"c", "conversation_search", "{}"}};
  for (auto& m : {said, reply, packed, search, make_message(message_role::tool, "result")})
    found.push_back(std::make_shared<const message>(m));
  CAF_CHECK_EQUAL(
      call(
          "conversation_search",
          R"({"query":"text","roles":["user","assistant"],"limit":7,"start_date":"2026-11-01","end_date":"2026-11-20"})"),
      R"({"message":"Showing 3 results:","results":[{"timestamp":"2026-11-21T01:23:47-05:00","time_ago":"42s ago","role":"user","relevance":{"search_mode":"sql"},"content":"a plain text"},{"timestamp":"2026-11-20T23:00:00.250000-05:00","time_ago":"2h ago","role":"assistant","relevance":{"search_mode":"sql"},"thinking":"let me think","content":"hello"},{"timestamp":"2026-11-18T01:24:00-05:00","time_ago":"3d ago","role":"user","relevance":{"search_mode":"sql"},"type":"user_message","message":"m","time":"t"}]})");
  CAF_CHECK_EQUAL(query.text.value_or(""), "text");
  CAF_CHECK(query.roles == (std::vector{message_role::user, message_role::assistant}));
  CAF_CHECK_EQUAL(query.limit, 7);
  // Dates without a zone are the agent's; a day as an end is all of that day.
  CAF_CHECK_EQUAL(format_utc(query.start.value()), "2026-11-01T04:00:00Z");
  CAF_CHECK_EQUAL(format_utc(query.end.value()), "2026-11-21T04:59:59.999999Z");
  found.clear();
  CAF_CHECK_EQUAL(call("conversation_search", R"({"start_date":"2026-11-01T10:00:00+02:00"})"),
                  R"({"message":"No results found.","results":[]})");
  CAF_CHECK_EQUAL(format_utc(query.start.value()), "2026-11-01T08:00:00Z");
  CAF_CHECK_EQUAL(query.limit, 5);
  CAF_CHECK_EQUAL(
      call("conversation_search", R"({"end_date":"soon"})"),
      "!ValueError: Invalid end_date format: soon. Use ISO 8601 format (YYYY-MM-DD or YYYY-MM-DDTHH:MM)");
  CAF_CHECK_EQUAL(call("conversation_search", R"({"roles":["cook"]})"),
                  "!ValueError: 'cook' is not a valid MessageRole");
}

CAF_TEST(packaging of results) {
  auto pack = [](std::string_view value, std::int64_t limit, std::string_view tool = "t") {
    tools::tool_result r;
    r.returned = parsed(value);
    return tools::pack_result(r, tool, limit, at("2026-11-20T12:15:13Z"), "America/New_York");
  };
  auto text = [](std::string_view message) {
    return "{\n  \"status\": \"OK\",\n  \"message\": " + std::string(message) +
           ",\n  \"time\": \"2026-11-20 07:15:13 AM EST-0500\"\n}";
  };
  CAF_CHECK_EQUAL(pack(R"("é")", 10), text(R"("é")"));
  CAF_CHECK_EQUAL(pack("null", 10), text(R"("None")"));
  CAF_CHECK_EQUAL(pack(R"([1,"a",null])", 100), text(R"("[1, 'a', None]")"));
  CAF_CHECK_EQUAL(pack(R"({"a":1})", 100), text("{\n    \"a\": 1\n  }"));
  CAF_CHECK_EQUAL(pack(R"("ééé")", 3), text(R"("ééé")")); // characters, not bytes
  // As recorded: 300 digits, and an object.
  std::string digits;
  for (int n = 0; n < 300; ++n) digits += static_cast<char>('0' + n % 10);
  auto cut = [](std::string_view numbers) {
    return "... [NOTE: function output was truncated since it exceeded the character limit (" +
           std::string(numbers) + ")]";
  };
  CAF_CHECK_EQUAL(pack("\"" + digits + "\"", 100), text("\"" + digits.substr(200) + cut("390 > 100") + "\""));
  CAF_CHECK_EQUAL(
      pack(R"({"name":"a name long enough to fill","n":1,"yes":true,"none":null,"sub":{"list":[1,2.5,"x"]}})",
           100),
      text(
          R"("{\"name\": \"a name long enough to fill\", \"n\": 1, \"yes\": true, \"none\": null, \"sub\": {\"list\": [1, 2.5, \")" +
          cut("195 > 100") + "\""));
  CAF_CHECK_EQUAL(pack("\"" + digits.substr(199) + "\"", 100),
                  text("\"" + digits.substr(199, 100) + cut("191 > 100") + "\""));
  CAF_CHECK_EQUAL(pack("\"" + digits + "\"", 100, "conversation_search"), text("\"" + digits + "\""));
  auto failed = tools::failed("t", tools::value_error(std::string(2000, 'y')));
  CAF_CHECK_EQUAL(failed.stderr_->front().size(), 1000u); // the line is cut, the text is not
  CAF_CHECK_EQUAL(json::python_str(failed.returned).size(), 2000u);
}

CAF_TEST(every base tool that runs here has the arguments of its schema) {
  for (auto& t : tools::base_tools()) {
    tool row;
    row.tool_type_ = t.type;
    row.name = t.name;
    if (!tools::is_core_tool(row) || t.name.starts_with("archival_")) continue;
    json::object all;
    for (auto& [key, schema] : json::find(*json::find(t.schema, "parameters"), "properties")->get_object())
      all[key] = "text";
    reset();
    auto returned = call(t.name, json::print(json::value(all)));
    CAF_MESSAGE(t.name);
    CAF_CHECK(returned.find("TypeError") == std::string::npos);
    CAF_CHECK(returned.find("Unknown function") == std::string::npos);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
