// The text of an agent's memory and system message (reference: resources §3).
#define CAF_SUITE prompt
#include "core/prompt/system_prompt.hpp"
#include "core/prompt/tokens.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

agent make_agent(agent_type type, std::string_view endpoint = "openai") {
  agent a;
  a.id = nth<agent_id>(1);
  a.type = type;
  a.llm.model_endpoint_type = endpoint;
  return a;
}

// The one block between the introduction and the end.
std::string rendered(const agent& a, const block& b) {
  auto text = prompt::compile_memory(a, {b});
  std::string begin = "<memory_blocks>\n" + std::string(prompt::text("memory_intro")) + "\n\n",
              end = "\n</memory_blocks>";
  CAF_CHECK(text.starts_with(begin) && text.ends_with(end));
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

} // namespace

CAF_TEST(blocks) {
  auto b = make_block("notes", "é one\ntwo");
  b.description = "all of them";
  b.limit = 20;
  std::string head = "<notes>\n<description>\nall of them\n</description>\n<metadata>\n";
  std::string counts = "- chars_current=9\n- chars_limit=20\n</metadata>\n"; // characters, not bytes
  auto plain = make_agent(agent_type::letta_v1_agent);
  CAF_CHECK_EQUAL(rendered(plain, b), head + counts + "<value>\né one\ntwo\n</value>\n</notes>\n");
  auto warning = "<warning>\n" + std::string(prompt::text("line_number_warning")) + "\n</warning>\n";
  // Only these types, and only for models of that provider, see numbered lines.
  struct {
    agent_type type;
    const char* endpoint;
    bool numbered;
  } rows[] = {{agent_type::letta_v1_agent, "anthropic", true},
              {agent_type::sleeptime_agent, "anthropic", true},
              {agent_type::memgpt_v2_agent, "anthropic", true},
              {agent_type::memgpt_agent, "anthropic", false},
              {agent_type::sleeptime_agent, "openai", false}};
  for (auto& r : rows)
    CAF_CHECK_EQUAL(rendered(make_agent(r.type, r.endpoint), b),
                    head + counts +
                        (r.numbered ? warning + "<value>\n1→ é one\n2→ two\n" : "<value>\né one\ntwo\n") +
                        "</value>\n</notes>\n");
  b.read_only = true;
  b.value.clear();
  b.description.reset();
  std::string empty = "<notes>\n<description>\n\n</description>\n<metadata>\n- read_only=true\n- "
                      "chars_current=0\n- chars_limit=20\n</metadata>\n";
  CAF_CHECK_EQUAL(rendered(plain, b), empty + "<value>\n\n</value>\n</notes>\n");
  CAF_CHECK_EQUAL(rendered(make_agent(agent_type::letta_v1_agent, "anthropic"), b),
                  empty + warning + "<value>\n</value>\n</notes>\n");
}

CAF_TEST(which agents show blocks) {
  std::vector<block> two{make_block("a", "1"), make_block("b", "2")};
  auto text = prompt::compile_memory(make_agent(agent_type::letta_v1_agent), two);
  CAF_CHECK(text.find("</a>\n\n<b>\n") != std::string::npos);
  CAF_CHECK_EQUAL(prompt::compile_memory(make_agent(agent_type::react_agent), two), "");
  CAF_CHECK_EQUAL(prompt::compile_memory(make_agent(agent_type::workflow_agent), two), "");
  CAF_CHECK_EQUAL(prompt::compile_memory(make_agent(agent_type::letta_v1_agent), {}), "");
}

CAF_TEST(rules of tools) {
  auto a = make_agent(agent_type::letta_v1_agent);
  a.tool_rules = made<std::vector<tool_rule>>(R"([
    {"type":"exit_loop","tool_name":"bye"},
    {"type":"parent_last_tool","tool_name":"p","children":["q"]},
    {"type":"max_count_per_step","tool_name":"m","max_count_limit":2},
    {"type":"run_first","tool_name":"first"},
    {"type":"constrain_child_tools","tool_name":"c","children":["d","e"]},
    {"type":"conditional","tool_name":"if","child_output_mapping":{"1":"d"}},
    {"type":"requires_approval","tool_name":"gate"},
    {"type":"continue_loop","tool_name":"on"}])");
  auto rule = [](std::string_view s) { return "<tool_rule>\n" + std::string(s) + "\n</tool_rule>\n"; };
  CAF_CHECK_EQUAL(prompt::compile_memory(a, {}),
                  "\n\n<tool_usage_rules>\n" + std::string(prompt::text("tool_rules_intro")) + "\n\n" +
                      rule("on requires continuing your response when called") +
                      rule("m: at most 2 use(s) per response") +
                      rule("After using c, you must use one of these tools: d, e") +
                      rule("if will determine which tool to use next based on its output") +
                      rule("q can only be used after p") +
                      rule("bye ends your response (yields control) when called") + "</tool_usage_rules>");
}

CAF_TEST(system message) {
  auto a = make_agent(agent_type::letta_v1_agent);
  a.system = "You are here.";
  a.timezone = "America/New_York";
  prompt::memory_counts counts;
  counts.messages_outside_context = 3;
  auto time = at("2026-07-01T12:00:00Z");
  std::string metadata =
      "<memory_metadata>\n- AGENT_ID: agent-00000000-0000-4000-8000-000000000100\n- CONVERSATION_ID: "
      "default\n- System prompt last recompiled: 2026-07-01 08:00:00 AM EDT-0400\n"
      "- 3 previous messages between you and the user are stored in recall memory";
  CAF_CHECK_EQUAL(prompt::compile_system_message(a, {}, counts, time, std::nullopt),
                  "You are here.\n\n\n\n" + metadata + "\n</memory_metadata>");
  a.system = "Before {CORE_MEMORY} after";
  CAF_CHECK_EQUAL(prompt::compile_system_message(a, {}, counts, time, std::nullopt),
                  "Before \n\n" + metadata + "\n</memory_metadata> after");
  counts.archival_passages = 2;
  counts.archive_tags = {"x", "y"};
  auto full =
      prompt::compile_system_message(a, {make_block("n", "v")}, counts, time, nth<conversation_id>(9));
  CAF_CHECK(full.find("- CONVERSATION_ID: conv-00000000-0000-4000-8000-000000000900\n") != std::string::npos);
  CAF_CHECK(full.find("- 2 total memories you created are stored in archival memory (use tools to access "
                      "them)\n- Available archival memory tags: x, y\n</memory_metadata> after") !=
            std::string::npos);
  // Its parts are found again, whatever the blocks hold.
  auto tricky =
      make_block("n", "<memory_metadata>fake</memory_metadata>\n<tool_usage_rules>fake</tool_usage_rules>");
  a.system = "Mine.";
  a.tool_rules = {make_rule(tool_rule_type::exit_loop, "bye")};
  auto text = prompt::compile_system_message(a, {tricky}, counts, time, std::nullopt);
  auto parts = prompt::split_system_message(text);
  CAF_CHECK_EQUAL(std::string(parts.system_prompt), "Mine.");
  CAF_CHECK(parts.core_memory && parts.core_memory->starts_with("<memory_blocks>") &&
            parts.core_memory->ends_with("</memory_blocks>"));
  CAF_CHECK(parts.tool_usage_rules && parts.tool_usage_rules->find("bye ends") != std::string_view::npos);
  CAF_CHECK(parts.metadata.find("AGENT_ID") != std::string_view::npos);
  CAF_CHECK(!parts.directories);
}

CAF_TEST(default instructions) {
  for (auto type : {agent_type::memgpt_agent, agent_type::memgpt_v2_agent, agent_type::letta_v1_agent,
                    agent_type::react_agent, agent_type::workflow_agent, agent_type::sleeptime_agent,
                    agent_type::voice_convo_agent, agent_type::voice_sleeptime_agent}) {
    auto text = prompt::default_system(type);
    CAF_CHECK(text && !text->empty() && !text->ends_with('\n'));
  }
  CAF_CHECK(!prompt::default_system(agent_type::split_thread_agent));
}

CAF_TEST(tokens are a quarter of the bytes rounded up) {
  struct {
    const char* text;
    std::int64_t tokens;
  } rows[] = {{"", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"éé", 1}, {"ééé", 2}};
  for (auto& r : rows) CAF_CHECK_EQUAL(prompt::estimate_tokens(r.text), r.tokens);
}
