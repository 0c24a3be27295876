// Anthropic's Messages protocol: what is sent.
#define CAF_SUITE anthropic_request
#include "core/protocol/anthropic.hpp"
#include "tests/unit/protocol_support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

conversation with_sonnet(bool reasons = false) {
  conversation c("anthropic", "claude-sonnet-4-5-20250929");
  c.r.config.enable_reasoner = reasons;
  c.r.config.max_reasoning_tokens = 1024;
  return c;
}

std::string member(const conversation& c, std::string_view name) {
  return member_of(anthropic::request_body(c.r), name);
}

constexpr std::string_view mark = R"(,"cache_control":{"type":"ephemeral"})";

// The last block of the last message, as it is marked.
std::string marked(std::string_view block) {
  return std::string(block.substr(0, block.size() - 1)) + std::string(mark) + "}";
}
std::string text_block(std::string_view text) {
  return json::object_text([&](json::object_writer& w) { w.add("type", "text").add("text", text); });
}
std::string message_text(std::string_view role, std::string_view content) {
  return R"({"role":")" + std::string(role) + R"(","content":)" + std::string(content) + "}";
}

} // namespace

CAF_TEST(the prompt stands apart and is marked for the cache) {
  auto c = with_sonnet();
  c.user("hi");
  CAF_CHECK_EQUAL(member(c, "system"), "[" + marked(text_block("be good")) + "]");
  CAF_CHECK_EQUAL(member(c, "messages"),
                  "[" + message_text("user", "[" + marked(text_block("hi")) + "]") + "]");
  c.r.system_override = "be bad";
  c.r.system_suffix = "!";
  CAF_CHECK_EQUAL(member(c, "system"), "[" + marked(text_block("be bad!")) + "]");
}

CAF_TEST(only the end of the conversation is marked) {
  auto c = with_sonnet();
  c.user("one").assistant("two").user("three");
  CAF_CHECK_EQUAL(member(c, "messages"), "[" + message_text("user", R"("one")") + "," +
                                             message_text("assistant", "[" + text_block("two") + "]") + "," +
                                             message_text("user", "[" + marked(text_block("three")) + "]") +
                                             "]");
}

CAF_TEST(roles alternate and the user begins) {
  auto c = with_sonnet();
  c.assistant("first").assistant("second").user("third").user("fourth");
  CAF_CHECK_EQUAL(
      member(c, "messages"),
      "[" + message_text("user", "[" + text_block("(start of the conversation)") + "]") + "," +
          message_text("assistant", "[" + text_block("first") + "," + text_block("second") + "]") + "," +
          message_text("user", "[" + text_block("third") + "," + marked(text_block("fourth")) + "]") + "]");
}

CAF_TEST(a conversation of nothing but a prompt still has a message) {
  auto c = with_sonnet();
  CAF_CHECK_EQUAL(member(c, "messages"),
                  "[" + message_text("user", "[" + marked(text_block("(start of the conversation)")) + "]") +
                      "]");
}

CAF_TEST(later system messages are events of the user) {
  auto c = with_sonnet();
  c.add(message_role::system, "wake up");
  CAF_CHECK_EQUAL(
      member(c, "messages"),
      "[" + message_text("user", "[" + marked(text_block("<event>SYSTEM ALERT: wake up</event>")) + "]") +
          "]");
}

CAF_TEST(blank texts are not sent and a reply to go on with ends without white space) {
  auto c = with_sonnet();
  c.user("a").assistant("  \n").user(" ").assistant("I say: \n");
  CAF_CHECK_EQUAL(member(c, "messages"),
                  "[" + message_text("user", R"("a")") + "," +
                      message_text("assistant", "[" + marked(text_block("I say:")) + "]") + "]");
}

CAF_TEST(signed thoughts go back to the model that had them) {
  auto c = with_sonnet(true);
  c.user("a");
  auto& m = c.reply({reasoning_content{true, "one", "s1"}, redacted_reasoning_content{"dark"},
                     reasoning_content{true, "two", "s2"}, reasoning_content{true, "unsigned", std::nullopt},
                     text_content{"said", std::nullopt}});
  c.user("b");
  auto own = "[" + message_text("user", R"("a")") + "," +
             message_text("assistant", R"([{"type":"thinking","thinking":"one","signature":"s1"},)"
                                       R"({"type":"redacted_thinking","data":"dark"},)"
                                       R"({"type":"thinking","thinking":"two","signature":"s2"},)" +
                                           text_block("said") + "]") +
             "," + message_text("user", "[" + marked(text_block("b")) + "]") + "]";
  CAF_CHECK_EQUAL(member(c, "messages"), own);
  m.model = "claude-3-7-sonnet-20250219";
  CAF_CHECK(member(c, "messages").find("thinking") == std::string::npos);
  m.content = {reasoning_content{true, "one", "s1"}}; // nothing is left of it
  CAF_CHECK_EQUAL(member(c, "messages"),
                  "[" + message_text("user", "[" + text_block("a") + "," + marked(text_block("b")) + "]") +
                      "]");
}

CAF_TEST(calls and returns) {
  auto c = with_sonnet();
  c.user("go");
  c.reply({text_content{"I go", std::nullopt}},
          {{"toolu_1", "look", R"({"at": 1})"}, {"Read:93", "look", "broken {"}});
  c.answer("toolu_1", "seen");
  c.answer("Read:93", "nothing");
  CAF_CHECK_EQUAL(
      member(c, "messages"),
      "[" + message_text("user", R"("go")") + "," +
          message_text(
              "assistant",
              "[" + text_block("I go") +
                  R"(,{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":1}},)"
                  R"({"type":"tool_use","id":"Read_93","name":"look","input":{"_malformed_tool_arguments":"broken {"}}])") +
          "," +
          message_text("user",
                       R"([{"type":"tool_result","tool_use_id":"toolu_1","content":"seen"},)" +
                           marked(R"({"type":"tool_result","tool_use_id":"Read_93","content":"nothing"})") +
                           "]") +
          "]");
}

CAF_TEST(images of users and of tools) {
  auto c = with_sonnet();
  image_content stored{"letta", {}, {}, "image/png", "QUJD", {}},
      linked{"url", "http://x/y.png", {}, {}, {}, {}};
  c.add(message_role::user).content = {text_content{"see", std::nullopt}, stored, linked};
  c.reply({}, {{"t", "look", "{}"}});
  auto& m = c.add(message_role::tool);
  std::vector<content_part> parts{text_content{"found", std::nullopt}, stored};
  m.tool_returns = {{"t", return_status::success, std::nullopt, std::nullopt, parts}};
  std::string base64 =
      R"({"type":"image","source":{"type":"base64","data":"QUJD","media_type":"image/png"}})";
  CAF_CHECK_EQUAL(
      member(c, "messages"),
      "[" +
          message_text("user", "[" + text_block("see") + "," + base64 +
                                   R"(,{"type":"image","source":{"type":"url","url":"http://x/y.png"}}])") +
          "," + message_text("assistant", R"([{"type":"tool_use","id":"t","name":"look","input":{}}])") +
          "," +
          message_text("user", R"([{"type":"tool_result","tool_use_id":"t","content":[)" +
                                   text_block("found") + "," + base64 + "]" + std::string(mark) + "}]") +
          "]");
}

CAF_TEST(results are cut to their share of the window) {
  auto c = with_sonnet();
  c.reply({}, {{"t", "look", "{}"}});
  c.answer("t", std::string(7000, 'x')); // 20% of 8000 tokens, four characters each
  CAF_CHECK(member(c, "messages").find("x... [truncated 600 chars]") != std::string::npos);
}

CAF_TEST(tools without what the provider refuses and the last one marked) {
  auto c = with_sonnet();
  c.offer("first");
  c.offer("second", R"({"properties":{"a":{"type":["string","null"],"default":null},
    "b":{"anyOf":[{"type":"integer","default":3},{"type":["null"]}]},
    "c":{"type":"array","items":{"type":"object","properties":{"default":{"type":"string","default":""}}}}},
    "required":["a"]})");
  CAF_CHECK_EQUAL(
      member(c, "tools"),
      R"([{"name":"first","description":"about","input_schema":{"type":"object","properties":{}}},)"
      R"({"name":"second","description":"about","input_schema":{"properties":{"a":{"type":"string"},)"
      R"("b":{"anyOf":[{"type":"integer"},{"type":"string"}]},)"
      R"("c":{"type":"array","items":{"type":"object","properties":{"default":{"type":"string"}}}}},)"
      R"("required":["a"],"type":"object"},"cache_control":{"type":"ephemeral"}}])");
}

CAF_TEST(how tools are chosen) {
  using kind = tool_choice::kind;
  struct row {
    kind what;
    bool thinks, parallel;
    std::string_view text;
  } rows[] = {
      {kind::automatic, false, false, R"({"type":"auto","disable_parallel_tool_use":true})"},
      {kind::automatic, false, true, R"({"type":"auto","disable_parallel_tool_use":false})"},
      {kind::required, false, false, R"({"type":"any","disable_parallel_tool_use":true})"},
      {kind::named, false, false, R"({"type":"tool","name":"look","disable_parallel_tool_use":true})"},
      {kind::none, false, false, R"({"type":"none"})"},
      {kind::required, true, false, R"({"type":"auto","disable_parallel_tool_use":true})"},
      {kind::named, true, true, R"({"type":"auto","disable_parallel_tool_use":false})"},
      {kind::none, true, false, R"({"type":"none"})"},
  };
  for (auto& row : rows) {
    auto c = with_sonnet(row.thinks);
    c.offer("look");
    c.r.choice = {row.what, "look"};
    c.r.parallel_tool_calls = row.parallel;
    CAF_CHECK_EQUAL(member(c, "tool_choice"), row.text);
  }
  CAF_CHECK_EQUAL(member(with_sonnet(), "tool_choice"), "-"); // without tools
  CAF_CHECK_EQUAL(member(with_sonnet(), "tools"), "-");
}

CAF_TEST(how a model is asked to think) {
  struct row {
    std::string_view model;
    bool reasons;
    std::int64_t budget, max_tokens;
    std::string_view thinking, sent_max, temperature, effort, management;
  } rows[] = {
      {"claude-sonnet-4-5-20250929", true, 1024, 4096, R"({"type":"enabled","budget_tokens":1024})", "4096",
       "1.0", "-", "-"},
      {"claude-sonnet-4-5-20250929", true, 0, 4096, R"({"type":"enabled","budget_tokens":1024})", "4096",
       "1.0", "-", "-"},
      {"claude-sonnet-4-5-20250929", true, 8000, 4096, R"({"type":"enabled","budget_tokens":8000})", "12096",
       "1.0", "-", "-"},
      {"claude-sonnet-4-5-20250929", false, 1024, 4096, "-", "4096", "0.5", "-", "-"},
      {"claude-3-5-haiku-20241022", true, 1024, 4096, "-", "4096", "0.5", "-", "-"},
      {"claude-3-7-sonnet-latest", true, 2000, 4096, R"({"type":"enabled","budget_tokens":2000})", "4096",
       "1.0", "-", "-"},
      {"claude-opus-4-5-20251101", true, 1024, 4096, R"({"type":"enabled","budget_tokens":1024})", "4096",
       "1.0", R"({"effort":"low"})", R"({"edits":[{"type":"clear_thinking_20251015","keep":"all"}]})"},
      {"claude-opus-4-6", true, 1024, 4096, R"({"type":"adaptive"})", "4096", "1.0", R"({"effort":"low"})",
       "-"},
      {"claude-sonnet-4-6", false, 1024, 4096, "-", "4096", "0.5", R"({"effort":"low"})", "-"},
      {"claude-opus-5", true, 1024, 4096, R"({"type":"adaptive"})", "4096", "1.0", R"({"effort":"low"})",
       "-"},
  };
  for (auto& row : rows) {
    auto c = with_sonnet(row.reasons);
    c.r.config.model = row.model;
    c.r.config.max_reasoning_tokens = row.budget;
    c.r.config.max_tokens = row.max_tokens;
    c.r.config.temperature = 0.5;
    c.r.config.effort = "low";
    CAF_MESSAGE(row.model);
    CAF_CHECK_EQUAL(member(c, "thinking"), row.thinking);
    CAF_CHECK_EQUAL(member(c, "max_tokens"), row.sent_max);
    CAF_CHECK_EQUAL(member(c, "temperature"), row.temperature);
    CAF_CHECK_EQUAL(member(c, "output_config"), row.effort);
    CAF_CHECK_EQUAL(member(c, "context_management"), row.management);
  }
}

CAF_TEST(beta headers) {
  struct row {
    std::string_view model;
    bool reasons, stream;
    std::optional<std::string> effort;
    std::string_view text;
  } rows[] = {
      {"claude-3-5-haiku-20241022", true, false, {}, ""},
      {"claude-sonnet-4-5", false, true, {}, "fine-grained-tool-streaming-2025-05-14"},
      {"claude-sonnet-4-5", true, false, {}, "interleaved-thinking-2025-05-14"},
      {"claude-opus-4-5", true, false, "high",
       "interleaved-thinking-2025-05-14,effort-2025-11-24,context-management-2025-06-27"},
      {"claude-opus-4-6", true, false, "max",
       "adaptive-thinking-2026-01-28,effort-2025-11-24,max-effort-2026-01-24"},
  };
  for (auto& row : rows) {
    auto c = with_sonnet(row.reasons);
    c.r.config.model = row.model;
    c.r.config.effort = row.effort;
    CAF_CHECK_EQUAL(anthropic::betas(c.r.config, row.stream), row.text);
  }
}

CAF_TEST(streams are asked for and the vendor is not part of the name) {
  auto c = with_sonnet();
  CAF_CHECK_EQUAL(member(c, "stream"), "-");
  c.r.stream = true;
  c.r.config.model = "anthropic/claude-sonnet-4-5";
  CAF_CHECK_EQUAL(member(c, "stream"), "true");
  CAF_CHECK_EQUAL(member(c, "model"), R"("claude-sonnet-4-5")");
}
