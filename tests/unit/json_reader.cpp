// Reading of requests: the errors are the API's, with the place at any depth. Texts are as recorded from the original
// where it is marked so.
#define CAF_SUITE json_reader
#include "core/schema/conversation.hpp"
#include "core/schema/message_request.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct row {
  const char* body;
  const char* detail;
};

template <class T, std::size_t N> void check(const row (&rows)[N]) {
  for (auto& r : rows) {
    CAF_MESSAGE(r.body);
    CAF_CHECK_EQUAL(reading<T>(r.body), r.detail);
  }
}

// One error in short: its type and its place.
template <class T> std::string where(std::string_view body) {
  json::reader r("body");
  T out{};
  json::read(r, parsed(body), out);
  std::string text;
  for (auto& e : r.errors()) {
    text.append(text.empty() ? "" : " ").append(e.type).append("@");
    for (std::size_t i = 1; i < e.loc.size(); ++i) {
      auto* index = std::get_if<std::size_t>(&e.loc[i]);
      text.append(i > 1 ? "." : "").append(index ? std::to_string(*index) : std::get<std::string>(e.loc[i]));
    }
  }
  return text.empty() ? "ok" : text;
}

} // namespace

CAF_TEST(agents as recorded) {
  check<create_agent>({
      {"{}", "ok"},
      {R"({"embedding":"none"})",
       "[{'type': 'value_error', 'loc': ('body', 'embedding'), 'msg': 'Value error, The embedding handle "
       "should be in the format provider/model-name', 'input': 'none', 'ctx': {'error': ValueError('The "
       "embedding handle should be in the format provider/model-name')}}]"},
      {R"({"tool_ids":["hammer"]})",
       "[{'type': 'string_too_short', 'loc': ('body', 'tool_ids', 0), 'msg': 'String should have at least 41 "
       "characters', 'input': 'hammer', 'ctx': {'min_length': 41}}]"},
      {R"({"block_ids":["brick"]})",
       "[{'type': 'string_too_short', 'loc': ('body', 'block_ids', 0), 'msg': 'String should have at least "
       "42 characters', 'input': 'brick', 'ctx': {'min_length': 42}}]"},
      {R"({"tags":"one"})", "[{'type': 'list_type', 'loc': ('body', 'tags'), 'msg': 'Input should be a valid "
                            "list', 'input': 'one'}]"},
      {R"({"tags":[1]})", "[{'type': 'string_type', 'loc': ('body', 'tags', 0), 'msg': 'Input should be a "
                          "valid string', 'input': 1}]"},
      {R"({"memory_blocks":[{"value":"without label"}]})",
       "[{'type': 'missing', 'loc': ('body', 'memory_blocks', 0, 'label'), 'msg': 'Field required', 'input': "
       "{'value': 'without label'}}]"},
      {R"({"metadata":"text"})", "[{'type': 'dict_type', 'loc': ('body', 'metadata'), 'msg': 'Input should "
                                 "be a valid dictionary', 'input': 'text'}]"},
      {R"({"tool_rules":[{"type":"exit_loop"}]})",
       "[{'type': 'missing', 'loc': ('body', 'tool_rules', 0, 'exit_loop', 'tool_name'), 'msg': 'Field "
       "required', 'input': {'type': 'exit_loop'}}]"},
      {R"({"tool_rules":[{"type":"conditional","tool_name":"x","child_output_mapping":{}}]})",
       "[{'type': 'value_error', 'loc': ('body', 'tool_rules', 0, 'conditional', 'child_output_mapping'), "
       "'msg': 'Value error, Conditional tool rule must have at least one child tool.', 'input': {}, 'ctx': "
       "{'error': ValueError('Conditional tool rule must have at least one child tool.')}}]"},
      {R"({"tool_rules":[{"type":"constrain_child_tools","tool_name":"memory_insert"}]})",
       "[{'type': 'missing', 'loc': ('body', 'tool_rules', 0, 'constrain_child_tools', 'children'), 'msg': "
       "'Field required', 'input': {'type': 'constrain_child_tools', 'tool_name': 'memory_insert'}}]"},
      {R"({"tool_rules":[{"tool_name":"memory_insert"}]})",
       "[{'type': 'union_tag_not_found', 'loc': ('body', 'tool_rules', 0), 'msg': \"Unable to extract tag "
       "using discriminator 'type'\", 'input': {'tool_name': 'memory_insert'}, 'ctx': {'discriminator': "
       "\"'type'\"}}]"},
      {R"({"tool_rules":{}})", "[{'type': 'list_type', 'loc': ('body', 'tool_rules'), 'msg': 'Input should "
                               "be a valid list', 'input': {}}]"},
      {R"({"context_window_limit":"large"})",
       "[{'type': 'int_parsing', 'loc': ('body', 'context_window_limit'), 'msg': 'Input should be a valid "
       "integer, unable to parse string as an integer', 'input': 'large'}]"},
      {R"({"secrets":{"A":1}})", "[{'type': 'string_type', 'loc': ('body', 'secrets', 'A'), 'msg': 'Input "
                                 "should be a valid string', 'input': 1}]"},
      {R"({"initial_message_sequence":[{"role":"tool","content":"x"}]})",
       "[{'type': 'literal_error', 'loc': ('body', 'initial_message_sequence', 0, 'role'), 'msg': \"Input "
       "should be <MessageRole.user: 'user'>, <MessageRole.system: 'system'> or <MessageRole.assistant: "
       "'assistant'>\", 'input': 'tool', 'ctx': {'expected': \"<MessageRole.user: 'user'>, "
       "<MessageRole.system: 'system'> or <MessageRole.assistant: 'assistant'>\"}}]"},
      {"[1, 2]", "[{'type': 'model_attributes_type', 'loc': ('body',), 'msg': 'Input should be a valid "
                 "dictionary or object to extract fields from', 'input': [1, 2]}]"},
  });
  CAF_CHECK_EQUAL(reading<update_conversation>(R"({"summary":5})"),
                  "[{'type': 'string_type', 'loc': ('body', 'summary'), 'msg': 'Input should be a valid "
                  "string', 'input': 5}]");
}

CAF_TEST(sends as recorded) {
  check<send_request>({
      {"{}", "[{'type': 'value_error', 'loc': ('body',), 'msg': \"Value error, Must specify either 'input' "
             "or 'messages'.\", 'input': {}, 'ctx': {'error': ValueError(\"Must specify either 'input' or "
             "'messages'.\")}}]"},
      {R"({"messages":null})", "[{'type': 'value_error', 'loc': ('body',), 'msg': \"Value error, Must "
                               "specify either 'input' or 'messages'.\", 'input': {'messages': None}, 'ctx': "
                               "{'error': ValueError(\"Must specify either 'input' or 'messages'.\")}}]"},
      {R"({"messages":[{"role":"user","content":"x"}],"input":"y"})",
       "[{'type': 'value_error', 'loc': ('body',), 'msg': \"Value error, Cannot specify both 'input' and "
       "'messages'. Use one or the other.\", 'input': {'messages': [{'role': 'user', 'content': 'x', 'type': "
       "'message'}], 'input': 'y'}, 'ctx': {'error': ValueError(\"Cannot specify both 'input' and "
       "'messages'. Use one or the other.\")}}]"},
      {R"({"messages":"hello"})", "[{'type': 'list_type', 'loc': ('body', 'messages'), 'msg': 'Input should "
                                  "be a valid list', 'input': 'hello'}]"},
      {R"({"messages":[]})", "ok"}, // refused by the routes
  });
}

CAF_TEST(places inside messages) {
  struct {
    const char* body;
    const char* errors;
  } rows[] = {
      {R"({"messages":[{"role":"user","content":"x"},{"content":"x"}]})",
       "missing@messages.1.MessageCreate.role"},
      {R"({"messages":[{"role":"user"}]})", "missing@messages.0.MessageCreate.content"},
      {R"({"messages":[{"role":"wizard","content":"x"}]})", "literal_error@messages.0.MessageCreate.role"},
      {R"({"messages":[{"role":"user","content":5}]})", "string_type@messages.0.MessageCreate.content.str"},
      {R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})",
       "missing@messages.0.MessageCreate.content.0.text.text"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"smell"}]}]})",
       "union_tag_invalid@messages.0.MessageCreate.content.1"},
      {R"({"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]})",
       "missing@messages.0.MessageCreate.content.0.image.source.url.url"},
      {R"({"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"A"}}]}]})",
       "missing@messages.0.MessageCreate.content.0.image.source.base64.media_type"},
      {R"({"messages":[{"type":"letter","role":"user","content":"x"}]})", "literal_error@messages.0"},
      {R"({"messages":[7]})", "model_attributes_type@messages.0"},
      // Without a type, what an approval alone has makes it one.
      {R"({"messages":[{"approve":true,"approval_request_id":"m"}]})", "ok"},
      {R"({"messages":[{"approvals":[]}]})",
       "missing@messages.0.MessageCreate.role missing@messages.0.MessageCreate.content"},
      {R"({"messages":[{"type":"approval","approvals":[{"tool_call_id":"c","approve":true}]}]})",
       "union_tag_not_found@messages.0.ApprovalCreate.approvals.0"},
      {R"({"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c"}]}]})",
       "missing@messages.0.ApprovalCreate.approvals.0.approval.approve"},
      {R"({"messages":[{"type":"approval","approvals":[{"type":"tool","tool_call_id":"c","tool_return":"r","status":"fine"}]}]})",
       "literal_error@messages.0.ApprovalCreate.approvals.0.tool.status"},
      {R"({"messages":[{"type":"approval","approvals":null}]})", "ok"},
      {R"({"messages":[{"type":"tool_return"}]})", "missing@messages.0.ToolReturnCreate.tool_returns"},
      {R"({"messages":[{"type":"tool_return","tool_returns":[{"tool_call_id":"c","tool_return":[{"type":"text","text":"a"}],"status":"success"}]}]})",
       "ok"},
      {R"({"input":"x","client_tools":[{"description":"d"}]})", "missing@client_tools.0.name"},
      {R"({"input":"x","client_tools":null,"client_skills":null})", "ok"},
      {R"({"input":"x","enable_thinking":true})", "string_type@enable_thinking"},
      {R"({"input":"x","include_return_message_types":["assistant_message","thought"]})",
       "enum@include_return_message_types.1"},
      {R"({"input":"x","max_steps":1.5})", "int_from_float@max_steps"},
      {R"({"input":"x","nobody_knows":1})", "ok"},
  };
  for (auto& r : rows) {
    CAF_MESSAGE(r.body);
    CAF_CHECK_EQUAL(where<send_request>(r.body), r.errors);
  }
}

CAF_TEST(a send with everything is read wholly) {
  auto q = made<send_request>(
      R"({"messages":[{"role":"system","content":[{"type":"text","text":"a","signature":"s"}],"name":"n","otid":"o","sender_id":"i","group_id":"g","batch_item_id":"b"}],
    "max_steps":3,"use_assistant_message":false,"assistant_message_tool_name":"say","assistant_message_tool_kwarg":"text","include_return_message_types":["user_message"],
    "client_tools":[{"name":"t","description":"d","parameters":{"type":"object"}}],"client_skills":[{"name":"k","description":"d","location":"l"}],"override_model":"p/m","include_compaction_messages":true,
    "return_logprobs":true,"top_logprobs":2,"return_token_ids":true,"override_system":"sys","streaming":true,"stream_tokens":true,"include_pings":false,"background":true,"callback_url":"u","agent_id":"a"})");
  auto& m = std::get<message_create>(q.messages.at(0));
  CAF_CHECK(m.role == message_role::system);
  CAF_CHECK_EQUAL(std::get<text_content>(m.content.at(0)).signature.value_or(""), "s");
  CAF_CHECK_EQUAL(m.name.value_or("") + m.otid.value_or("") + m.sender_id.value_or("") +
                      m.group_id.value_or("") + m.batch_item_id.value_or(""),
                  "noigb");
  CAF_CHECK_EQUAL(q.max_steps, 3);
  CAF_CHECK(!q.use_assistant_message && q.include_compaction_messages && q.return_logprobs &&
            q.return_token_ids && q.stream_tokens && !q.include_pings && q.background);
  CAF_CHECK_EQUAL(q.assistant_message_tool_name + q.assistant_message_tool_kwarg, "saytext");
  CAF_CHECK(q.streaming == true && q.top_logprobs == 2);
  CAF_CHECK_EQUAL(q.client_tools.at(0).name + q.client_skills.at(0).location + q.override_model.value_or("") +
                      q.override_system.value_or("") + q.callback_url.value_or("") +
                      q.agent_id_text.value_or(""),
                  "tlp/msysua");
  // `input` is one message of the user; `system` is the other name of override_system.
  auto short_one = made<send_request>(R"({"input":"hi","system":"sys"})");
  CAF_CHECK(!short_one.has_messages &&
            std::get<message_create>(short_one.messages.at(0)).role == message_role::user);
  CAF_CHECK_EQUAL(short_one.override_system.value_or(""), "sys");
}

CAF_TEST(scalars as pydantic takes them) {
  auto one = [](auto target, std::string_view text) {
    json::reader r("body");
    if (json::read(r, parsed(text), target)) return json::to_text(target);
    return r.errors().at(0).type;
  };
  struct {
    const char* given;
    const char* as_bool;
    const char* as_int;
    const char* as_double;
    const char* as_text;
  } rows[] = {
      {"true", "true", "1", "1.0", "string_type"},
      {"1", "true", "1", "1.0", "string_type"},
      {"2", "bool_parsing", "2", "2.0", "string_type"},
      {"1.5", "bool_type", "int_from_float", "1.5", "string_type"},
      {"3.0", "bool_type", "3", "3.0", "string_type"},
      {R"("yes")", "true", "int_parsing", "float_parsing", R"("yes")"},
      {R"("Off")", "false", "int_parsing", "float_parsing", R"("Off")"},
      {R"(" 12 ")", "bool_parsing", "12", "12.0", R"(" 12 ")"},
      {R"("+7")", "bool_parsing", "7", "7.0", R"("+7")"},
      {R"("+-7")", "bool_parsing", "int_parsing", "float_parsing", R"("+-7")"},
      {R"("+")", "bool_parsing", "int_parsing", "float_parsing", R"("+")"},
      {R"("")", "bool_parsing", "int_parsing", "float_parsing", R"("")"},
      {"null", "bool_type", "int_type", "float_type", "string_type"},
      {"[]", "bool_type", "int_type", "float_type", "string_type"},
      {"18446744073709551615", "bool_type", "int_parsing_size", "1.8446744073709552e+19", "string_type"},
      {R"("a\u0000b")", "bool_parsing", "int_parsing", "float_parsing", R"("ab")"},
  };
  for (auto& r : rows) {
    CAF_MESSAGE(r.given);
    CAF_CHECK_EQUAL(one(bool{}, r.given), r.as_bool);
    CAF_CHECK_EQUAL(one(std::int64_t{}, r.given), r.as_int);
    CAF_CHECK_EQUAL(one(double{}, r.given), r.as_double);
    CAF_CHECK_EQUAL(one(std::string{}, r.given), r.as_text);
  }
  CAF_CHECK_EQUAL(one(timestamp{}, R"("2025-01-02T03:04:05.5+02:00")"), R"("2025-01-02T01:04:05.500000Z")");
  CAF_CHECK_EQUAL(one(timestamp{}, "1735787045"), R"("2025-01-02T03:04:05Z")");
  CAF_CHECK_EQUAL(one(timestamp{}, "1735787045000"), R"("2025-01-02T03:04:05Z")");
  CAF_CHECK_EQUAL(one(timestamp{}, R"("soon")"), "datetime_from_date_parsing");
  CAF_CHECK_EQUAL(one(timestamp{}, "[]"), "datetime_type");
}

CAF_TEST(ids inside bodies) {
  auto id = [](std::string_view text) {
    return where<std::vector<tool_id>>("[\"" + std::string(text) + "\"]");
  };
  CAF_CHECK_EQUAL(id("tool-00000000-0000-4000-8000-000000000001"), "ok");
  CAF_CHECK_EQUAL(id("tool-00000000-0000-4000-8000-00000000000"), "string_too_short@0");
  CAF_CHECK_EQUAL(id("tool-00000000-0000-4000-8000-0000000000011"), "string_too_long@0");
  for (auto* wrong :
       {"tool-00000000-0000-5000-8000-000000000001", "tool-00000000-0000-4000-c000-000000000001",
        "tool-00000000-0000-4000-8000-00000000000A", "pool-00000000-0000-4000-8000-000000000001"})
    CAF_CHECK_EQUAL(id(wrong), "string_pattern_mismatch@0");
}

CAF_TEST(unknown members and patches) {
  CAF_CHECK_EQUAL(
      where<create_identity>(R"({"identifier_key":"k","name":"n","identity_type":"user","extra":1})"),
      "extra_forbidden@extra");
  CAF_CHECK_EQUAL(where<create_identity>(R"({"name":"n","identity_type":"cat"})"),
                  "missing@identifier_key enum@identity_type");
  CAF_CHECK_EQUAL(where<update_agent>(R"({"extra":1})"), "ok");
  // Absent, null and a value are three things where it matters.
  CAF_CHECK(!made<update_agent>("{}").max_tokens.present);
  auto cleared = made<update_agent>(R"({"max_tokens":null})").max_tokens;
  CAF_CHECK(cleared.present && !cleared.value);
  CAF_CHECK(made<update_agent>(R"({"max_tokens":5})").max_tokens.value == 5);
  // Missing query parameters have no document to show.
  CAF_CHECK_EQUAL(reading<create_block>("{}", "query"),
                  "[{'type': 'missing', 'loc': ('query', 'label'), 'msg': 'Field required', 'input': None}]");
}

CAF_TEST(all errors of a document are collected and a great many are cut) {
  CAF_CHECK_EQUAL(
      where<create_agent>(
          R"({"name":1,"tags":[1,"a",2],"memory_blocks":[{"label":"a"},{"label":1,"limit":"x"}],"model_settings":{"provider_type":"openai","temperature":"hot"}})"),
      "string_type@name int_parsing@memory_blocks.1.limit string_type@memory_blocks.1.label "
      "string_type@tags.0 string_type@tags.2 float_parsing@model_settings.openai.temperature");
  std::string many = R"({"tags":[)";
  for (int i = 0; i < 1000; ++i) many += "1,";
  auto detail = reading<create_agent>(many + "1]}");
  std::size_t n = 0;
  for (auto p = detail.find("'type'"); p != std::string::npos; p = detail.find("'type'", p + 1)) ++n;
  CAF_CHECK_EQUAL(n, 64u);
}

CAF_TEST(a rule reads what its type has) {
  auto shown = [](std::string_view text) { return json::to_text(made<tool_rule>(text)); };
  for (
      auto* text :
      {R"({"tool_name":"t","type":"run_first","prompt_template":null,"args":{"x":1}})",
       R"({"tool_name":"t","type":"exit_loop","prompt_template":"p"})",
       R"({"tool_name":"t","type":"conditional","prompt_template":null,"default_child":"d","child_output_mapping":{"1":"c"},"require_output_mapping":true})",
       R"({"tool_name":"t","type":"constrain_child_tools","prompt_template":null,"children":["a","b"],"child_arg_nodes":[{"name":"a","args":{"x":1}}]})",
       R"({"tool_name":"t","type":"parent_last_tool","prompt_template":null,"children":["a"]})",
       R"({"tool_name":"t","type":"max_count_per_step","prompt_template":null,"max_count_limit":3})",
       R"({"tool_name":"t","type":"requires_approval","prompt_template":null})"})
    CAF_CHECK_EQUAL(shown(text), text);
  CAF_CHECK_EQUAL(
      where<tool_rule>(
          R"({"tool_name":"t","type":"constrain_child_tools","children":["a"],"child_arg_nodes":[{"name":"z"}]})"),
      "value_error@constrain_child_tools.child_arg_nodes.0");
  CAF_CHECK_EQUAL(where<tool_rule>(R"({"tool_name":"t","type":"sometimes"})"), "union_tag_invalid@");
  CAF_CHECK_EQUAL(
      deduplicated(
          made<std::vector<tool_rule>>(
              R"([{"type":"exit_loop","tool_name":"a"},{"type":"exit_loop","tool_name":"b"},{"type":"exit_loop","tool_name":"a","prompt_template":"p"}])"))
          .size(),
      2u);
}
