// The built-in model: reading of scripts, and which answer a request gets.
#define CAF_SUITE rehearsal
#include "core/base/embedded.hpp"
#include "core/rehearsal/script.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

std::unique_ptr<rehearsal::script> read(std::string_view text) {
  auto s = rehearsal::parse_script(text, "test");
  if (!s) throw std::runtime_error(s.error().message);
  return std::move(*s);
}
std::string refusal(std::string_view text) {
  auto s = rehearsal::parse_script(text, "test");
  return s ? "ok" : s.error().message;
}

std::string show(const rehearsal::performance& p) {
  using kind = rehearsal::action::kind;
  std::string out;
  for (auto& a : p.actions) {
    if (!out.empty()) out += "; ";
    switch (a.what) {
    case kind::reasoning: out += "think " + a.text; break;
    case kind::text: out += "say " + a.text; break;
    case kind::call: out += "call " + a.call_id + " " + a.call_name + " " + a.arguments; break;
    case kind::delay: out += "wait " + std::to_string(a.milliseconds); break;
    case kind::error: out += "fail " + std::to_string(a.status) + " " + a.text; break;
    case kind::hang: out += "hang"; break;
    }
  }
  return out;
}

std::string user(std::string_view text) {
  return R"({"role":"user","content":")" + std::string(text) + "\"}";
}
std::string called(std::string_view id) {
  return R"({"role":"assistant","tool_calls":[{"id":")" + std::string(id) + R"("}]})";
}
std::string result_of(std::string_view text) {
  return R"({"role":"tool","content":"{\"status\":\"OK\",\"message\":\")" + std::string(text) +
         R"(\",\"time\":\"t\"}"})";
}

std::string answer(const rehearsal::script& s, const std::string& messages, std::string_view tools = "") {
  return show(s.answer(parsed(
      R"({"messages":[{"role":"system","content":"<notes>\n<value>\nthe notes\n</value>\n</notes>"},)" +
      messages + R"(],"tools":[)" + std::string(tools) + "]}")));
}

} // namespace

CAF_TEST(without a script everything has an answer) {
  auto s = read("{}");
  CAF_CHECK_EQUAL(s->name(), "test");
  CAF_CHECK_EQUAL(s->context_window(), 32000);
  CAF_CHECK_EQUAL(answer(*s, user("hello")), "say You said: hello");
  CAF_CHECK_EQUAL(answer(*s, user("hello") + "," + called("c") + "," + result_of("42")), "say Done: 42");
  CAF_CHECK_EQUAL(show(s->answer(parsed("{}"))), "say You said: ");
}

CAF_TEST(scenes) {
  auto s = read(R"({"context_window":100,"token_delay_ms":3,"scenes":[
    {"user":"remember (\\w+)(?: and (\\w+))?","offered":["memory_insert"],"blocks":["notes"],"replies":[
      {"say":[{"reasoning":"hm"},{"call":"memory_insert","arguments":{"label":"notes","n":1,"list":["{{1}}","{{memory.notes}}"]}},{"call":"other","arguments":"{{2}}"}]},
      {"say":[{"delay_ms":5},{"text":"{{ result }} / {{text}} / {{turn}} / {{nobody}} / {{0}}"}],"finish_reason":"length","usage":{"prompt_tokens":1},"token_delay_ms":9}]},
    {"user":"^fail$","replies":[{"say":[{"error":429,"message":"slow"},{"error":500},{"hang":true}]}]},
    {"offered":"only_this","replies":[{"say":[{"text":"offered"}]}]}],
    "otherwise":{"say":[{"text":"what?"}]},"after_tools":{"say":[{"text":"after"}]}})");
  const std::string insert = R"({"type":"function","function":{"name":"memory_insert"}})";
  CAF_CHECK_EQUAL(s->context_window(), 100);
  auto first =
      R"(think hm; call call_0 memory_insert {"label":"notes","n":1,"list":["iron","the notes"]}; call call_1 other )";
  CAF_CHECK_EQUAL(answer(*s, user("please REMEMBER iron"), insert), first); // whatever the case
  CAF_CHECK_EQUAL(answer(*s, user("remember iron and gold"), insert), std::string(first) + "gold");
  CAF_CHECK_EQUAL(answer(*s, user("remember iron")), "say what?"); // the tool is not offered
  CAF_CHECK_EQUAL(
      answer(*s, user("before") + "," + user("remember iron") + "," + called("a") + "," + result_of("done"),
             insert),
      "wait 5; say done / remember iron / 2 / {{nobody}} / remember iron");
  // The scene is over after its replies; ids of calls are unlike all before them.
  auto twice = user("remember iron") + "," + called("a") + "," + result_of("1") + "," + called("b") + "," +
               result_of("2");
  CAF_CHECK_EQUAL(answer(*s, twice, insert), "say after");
  CAF_CHECK_EQUAL(answer(*s, twice + "," + user("remember tin"), insert).substr(0, 28),
                  "think hm; call call_2 memory");
  CAF_CHECK_EQUAL(answer(*s, user("fail")), "fail 429 slow; fail 500 scripted failure; hang");
  CAF_CHECK_EQUAL(answer(*s, user("failure")), "say what?");
  CAF_CHECK_EQUAL(answer(*s, user("x"), R"({"function":{"name":"only_this"}})"), "say offered");
  auto p = s->answer(parsed(R"({"messages":[{"role":"system","content":"<notes>\n<value>\n</value>"},)" +
                            user("remember iron") + "," + called("a") + R"(],"tools":[)" + insert + "]}"));
  CAF_CHECK_EQUAL(p.finish_reason.value_or(""), "length");
  CAF_CHECK_EQUAL(p.token_delay_ms, 9);
  CAF_CHECK(p.usage && json::int_or(*p.usage, "prompt_tokens", 0) == 1);
}

CAF_TEST(texts in parts) {
  auto s = read("{}");
  CAF_CHECK_EQUAL(
      answer(*s, R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"),
      "say You said: a b");
}

CAF_TEST(wrong scripts name the place) {
  struct {
    const char* text;
    const char* refusal;
  } rows[] = {
      {"[]", "rehearsal script, top: an object is needed"},
      {R"({"scenes":1})", "rehearsal script, scenes: a list is needed"},
      {R"({"scenes":[{}]})", "rehearsal script, scenes[0]: a list `replies` is needed"},
      {R"({"scenes":[{"replies":[]}]})", "rehearsal script, scenes[0]: a list `replies` is needed"},
      {R"({"scenes":[{"replies":[{"say":[]}]},{"replies":[{"say":[]},{}]}]})",
       "rehearsal script, scenes[1], replies[1]: a reply needs a list `say`"},
      {R"({"scenes":[{"replies":[{"say":[{"text":"a"},{"txt":"b"}]}]}]})",
       "rehearsal script, scenes[0], replies[0], say[1]: one of text, reasoning, call, delay_ms, error, hang "
       "is needed"},
      {R"({"otherwise":{}})", "rehearsal script, otherwise: a reply needs a list `say`"},
      {R"({"after_tools":7})", "rehearsal script, after_tools: a reply needs a list `say`"},
  };
  for (auto& r : rows) CAF_CHECK_EQUAL(refusal(r.text), r.refusal);
  CAF_CHECK(refusal("{").starts_with("rehearsal script, character 1: "));
  CAF_CHECK(refusal(R"({"scenes":[{"user":"(","replies":[{"say":[]}]}]})")
                .starts_with("rehearsal script, scenes[0], user: missing )"));
}

CAF_TEST(every script that comes with the program can be read) {
  std::size_t n = 0;
  for (auto& file : embedded_files())
    if (file.name.starts_with("rehearsals/")) {
      CAF_CHECK_EQUAL(refusal(embedded(file.name)), "ok");
      ++n;
    }
  CAF_CHECK(n > 0);
}
