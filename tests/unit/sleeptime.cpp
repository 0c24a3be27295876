// When companions are told, what of a history, and how often that is tried. No clock, no store, no actor.
#define CAF_SUITE sleeptime_rules
#include "core/group/sleeptime.hpp"

#include "core/group/voice.hpp"
#include "core/json/value.hpp"
#include "core/protocol/model_request.hpp"
#include "core/tools/packaging.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using sleeptime::stored_message;

namespace {

using counts = std::vector<int>;

// The turns, from 1, after which companions are told.
counts told_after(std::optional<std::int64_t> frequency, std::optional<std::int64_t> counter, int turns) {
  group g;
  g.sleeptime_agent_frequency = frequency;
  g.turns_counter = counter;
  counts out;
  for (int i = 1; i <= turns; ++i)
    if (sleeptime::count_turn(g)) out.push_back(i);
  return out;
}

message said(message_role role, std::string text) {
  message m;
  m.role = role;
  m.run = run_id{};
  m.otid = "x";
  if (!text.empty()) m.content.emplace_back(text_content{std::move(text), std::nullopt});
  return m;
}
message calls(std::string name, std::string arguments) {
  auto m = said(message_role::assistant, "");
  m.tool_calls.push_back({"call-1", std::move(name), std::move(arguments)});
  return m;
}
stored_message kept(message m) { return std::make_shared<const message>(std::move(m)); }
std::string line(const message& m) { return sleeptime::lines_of(m, true); }

} // namespace

CAF_TEST(the frequency says which turns count) {
  CAF_CHECK_EQUAL(told_after(std::nullopt, std::nullopt, 3), (counts{1, 2, 3}));
  CAF_CHECK_EQUAL(told_after(0, std::nullopt, 3), (counts{}));
  CAF_CHECK_EQUAL(told_after(1, -1, 3), (counts{1, 2, 3}));
  CAF_CHECK_EQUAL(told_after(2, -1, 6), (counts{1, 3, 5}));
  CAF_CHECK_EQUAL(told_after(5, -1, 12), (counts{1, 6, 11}));
  CAF_CHECK_EQUAL(told_after(5, std::nullopt, 7), (counts{1, 6}));
  CAF_CHECK_EQUAL(told_after(2, 4, 3), (counts{2})); // changed from 5 to 2 with the counter at 4
}

CAF_TEST(only whole exchanges count) {
  using r = stop_reason;
  for (auto reason : {r::end_turn, r::max_steps, r::tool_rule, r::max_tokens_exceeded})
    CAF_CHECK(sleeptime::is_complete(run_status::completed, reason));
  for (auto reason : {r::requires_approval, r::error, r::llm_api_error, r::no_tool_call, r::cancelled})
    CAF_CHECK(!sleeptime::is_complete(run_status::completed, reason));
  CAF_CHECK(!sleeptime::is_complete(run_status::cancelled, r::end_turn));
  CAF_CHECK(!sleeptime::is_complete(run_status::failed, std::nullopt));
}

CAF_TEST(three failures are the last and a limit of requests is none) {
  auto failure = [](errc code) { return llm_failure(code, "LLMError", "no"); };
  sleeptime::tries t;
  auto seconds = [](auto wait) { return wait->count() / 1'000'000; };
  CAF_CHECK_EQUAL(seconds(sleeptime::wait_after(t, failure(errc::llm_error), 0)), 2);
  CAF_CHECK_EQUAL(seconds(sleeptime::wait_after(t, failure(errc::llm_timeout), 999)),
                  11); // 8 and nearly a half of it
  CAF_CHECK(!sleeptime::wait_after(t, failure(errc::llm_error), 0));
  sleeptime::tries limited;
  for (int i = 0; i < 50; ++i) {
    auto wait = sleeptime::wait_after(limited, failure(errc::llm_rate_limit), 999);
    CAF_REQUIRE(wait);
    CAF_CHECK(seconds(wait) <= 450);
  }
  CAF_CHECK_EQUAL(limited.failed, 0);
  CAF_CHECK(!sleeptime::wait_after(limited, failure(errc::llm_authentication), 0));
}

CAF_TEST(idle_seconds puts off and not for ever) {
  group g;
  CAF_CHECK_EQUAL(sleeptime::begins_at(g, {5}, {7}).us, 5);
  g.options.idle_seconds = 2;
  CAF_CHECK_EQUAL(sleeptime::begins_at(g, {0}, {1'000'000}).us, 3'000'000);
  CAF_CHECK_EQUAL(sleeptime::begins_at(g, {0}, {90'000'000}).us, 20'000'000);
}

CAF_TEST(every kind of message has its line) {
  CAF_CHECK_EQUAL(line(said(message_role::user, "hello")), "user: hello");
  CAF_CHECK_EQUAL(line(said(message_role::assistant, "hi")), "assistant: hi");
  CAF_CHECK_EQUAL(sleeptime::lines_of(said(message_role::assistant, "thoughts"), false), "");
  CAF_CHECK_EQUAL(line(calls("send_message", R"({"message": "hi there"})")), "assistant: hi there");
  CAF_CHECK_EQUAL(line(calls("memory_insert", R"({"label": "human", "line": 3})")),
                  R"(assistant: Tool used: memory_insert(label: "human", line: 3))");
  CAF_CHECK_EQUAL(line(calls("odd", "no json")), "assistant: Tool used: odd()");
  auto packed = said(message_role::user, R"({"type": "user_message", "message": "inside", "time": "now"})");
  CAF_CHECK_EQUAL(line(packed), "user: inside");
  CAF_CHECK_EQUAL(line(said(message_role::user, R"({"type": "heartbeat", "reason": "x"})")), "");
  CAF_CHECK_EQUAL(line(said(message_role::summary, "earlier")), "");
  auto own = said(message_role::system, "You are Ada.");
  own.run.reset();
  CAF_CHECK_EQUAL(line(own), "");
}

CAF_TEST(speakers of a group have their names) {
  auto other = said(message_role::system, "I disagree");
  CAF_CHECK_EQUAL(line(other), "system: I disagree");
  other.name = "Bob";
  CAF_CHECK_EQUAL(line(other), "Bob: I disagree");
  auto person = said(message_role::user, "hello");
  person.name = "Cleo";
  CAF_CHECK_EQUAL(line(person), "Cleo: hello");
}

CAF_TEST(images are named and long texts of tools are cut) {
  auto m = said(message_role::user, "look");
  m.content.emplace_back(image_content{});
  CAF_CHECK_EQUAL(line(m), "user: look [an image]");
  auto long_call = line(calls("note", R"({"text": ")" + std::string(1000, 'x') + R"("})"));
  CAF_CHECK(long_call.size() < 300);
  auto result = said(message_role::tool, "");
  tool_return r;
  r.func_response = std::string(5000, 'y');
  result.tool_returns.push_back(r);
  CAF_CHECK(line(result).starts_with("assistant: Tool call returned yyy"));
  CAF_CHECK(line(result).size() < 2100);
}

CAF_TEST(a history is cut between exchanges) {
  std::vector<stored_message> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(kept(said(message_role::user, std::string(100, 'u'))));
    all.push_back(kept(said(message_role::assistant, std::string(100, 'a'))));
  }
  auto whole = sleeptime::excerpt_of(all, true, 1000);
  CAF_CHECK_EQUAL(whole.covers, 8u);
  CAF_CHECK(whole.text.ends_with("a"));
  CAF_CHECK_EQUAL(sleeptime::excerpt_of(all, true, 150).covers, 4u); // 600 bytes: two exchanges and a half
  CAF_CHECK_EQUAL(sleeptime::excerpt_of(all, true, 30).covers, 1u);  // not even one exchange
  auto least = sleeptime::excerpt_of(all, true, 5);
  CAF_CHECK_EQUAL(least.covers, 1u);
  CAF_CHECK(least.text.ends_with(" […]"));
  CAF_CHECK_EQUAL(sleeptime::excerpt_of({}, true, 5).covers, 0u);
}

CAF_TEST(the letter ends with the last line) {
  CAF_CHECK(sleeptime::letter("user: hello").ends_with("</system-reminder>\n\nuser: hello"));
}

CAF_TEST(the result of a run is a whole answer) {
  step s;
  s.prompt_tokens = 10;
  s.completion_tokens = 2;
  s.total_tokens = 12;
  s.cached_input_tokens = 4;
  auto result = sleeptime::result_of(
      {kept(said(message_role::user, "told")), kept(said(message_role::assistant, "noted"))}, {s, s},
      stop_reason::end_turn, true);
  CAF_CHECK_EQUAL(result["messages"].as_array().size(), 1u);
  auto& usage = result["usage"].as_object();
  CAF_CHECK_EQUAL(usage["total_tokens"].to_number<int>(), 24);
  CAF_CHECK_EQUAL(usage["step_count"].to_number<int>(), 2);
  CAF_CHECK_EQUAL(usage["cached_input_tokens"].to_number<int>(), 8);
  CAF_CHECK_EQUAL(usage["context_tokens"].to_number<int>(), 12);
  CAF_CHECK(usage["run_ids"].is_null());
}

CAF_TEST(the context of a voice agent is cut before what somebody says) {
  std::vector<stored_message> context{kept(said(message_role::system, ""))};
  for (int i = 0; i < 4; ++i) {
    context.push_back(kept(said(message_role::user, "hello")));
    context.push_back(kept(calls("send_message", R"({"message": "hi"})")));
    context.push_back(kept(said(message_role::user, R"({"type": "heartbeat"})")));
  }
  CAF_CHECK_EQUAL(sleeptime::first_that_stays(context, 12, 3), 0u); // not longer than that
  CAF_CHECK_EQUAL(sleeptime::first_that_stays(context, 11, 3), 10u);
  CAF_CHECK_EQUAL(sleeptime::first_that_stays(context, 11, 4), 10u); // not before a heartbeat
  CAF_CHECK_EQUAL(sleeptime::first_that_stays(context, 11, 6), 7u);
  CAF_CHECK_EQUAL(sleeptime::first_that_stays(context, 11, 1), 0u); // nobody says anything there
}

CAF_TEST(memories are the lines that a call names) {
  std::vector<stored_message> going{kept(said(message_role::user, "a")), kept(said(message_role::user, "b"))};
  auto read = [&](std::string_view text) {
    return sleeptime::memories_of(json::try_parse(text)->get_object(), going);
  };
  auto all = read(R"({"chunks": [{"start_index": 0, "end_index": 9, "context": "c"}]})");
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK_EQUAL(all[0].lines, "user: a\nuser: b");
  CAF_CHECK_EQUAL(all[0].context, "c");
  CAF_CHECK(read(R"({"chunks": [{"start_index": 5, "end_index": 9}]})").empty());
  CAF_CHECK(read(R"({"chunks": 3})").empty());
}
