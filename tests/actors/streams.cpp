// The events of a run: in order, durable first, for any number of readers.
#define CAF_SUITE streams
#include "tests/actors/fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

const std::string done_event = "data: [DONE]\n\n";

struct fixture : house {
  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});

  sent_turn tool_turn(mode how) {
    auto turn = send(ada, "remember this", how);
    settle();
    say(call_reply({append_call("call-1", "likes tea")}));
    return turn;
  }
};

const lines tool_events = {"tool_call_message", "tool_return_message"};
const lines all_events = {"tool_call_message", "tool_return_message", "assistant_message",
                          "stop_reason",       "usage_statistics",    done_event};

net::awaitable<void> wait_for_one(event_reader& r, int& woken) {
  auto some = co_await r.source->next(std::chrono::hours(1));
  ++woken;
  if (some) r.events = *some;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(stream_tests, fixture)

CAF_TEST(events come in order and the stream ends) {
  auto turn = tool_turn(mode::stream);
  auto reader = attach(turn.id);
  CAF_CHECK_EQUAL(kinds(*reader), tool_events);
  CAF_CHECK(!reader->ended);
  say("done");
  CAF_CHECK_EQUAL(kinds(*reader), all_events);
  CAF_CHECK(reader->ended);
}

CAF_TEST(a step is shown when it is durable and not before) {
  auto turn = send(ada, "remember this", mode::background);
  settle();
  auto reader = attach(turn.id);
  hold(store);
  answer_model(0, call_reply({append_call("call-1", "likes tea")}));
  settle();
  CAF_CHECK(kinds(*reader).empty());
  release();
  CAF_CHECK_EQUAL(kinds(*reader), tool_events);
}

CAF_TEST(nothing is seen of a run that is not durable) {
  hold(store);
  auto request = text_request("hello");
  request.stream_tokens = true;
  auto turn = send(ada, request, mode::stream);
  settle();
  auto reader = attach(turn.id);
  show_token(turn.id, R"({"message_type":"assistant_message"})");
  CAF_CHECK(kinds(*reader).empty());
  release();
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"assistant_message"}));
}

CAF_TEST(the ping with the id of the run comes before tokens that were faster) {
  hold(store);
  auto request = text_request("hello");
  request.stream_tokens = true;
  request.include_pings = true;
  auto turn = send(ada, request, mode::stream);
  settle();
  show_token(turn.id, R"({"message_type":"assistant_message"})");
  release();
  auto reader = attach(turn.id);
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"ping", "assistant_message"}));
  CAF_CHECK(reader->events[0].find(turn.id.str()) != std::string::npos);
}

CAF_TEST(any number of readers see the same events) {
  auto turn = tool_turn(mode::background);
  auto early = attach(turn.id);
  kinds(*early);
  say("done");
  auto late = attach(turn.id);
  auto resumed = attach(turn.id, 2);
  CAF_CHECK_EQUAL(kinds(*early), all_events);
  CAF_CHECK_EQUAL(kinds(*late), all_events);
  CAF_CHECK_EQUAL(late->events, early->events);
  CAF_CHECK_EQUAL(kinds(*resumed), lines(all_events.begin() + 2, all_events.end()));
  for (auto* r : {&early, &late, &resumed}) CAF_CHECK((*r)->ended);
}

CAF_TEST(background events are numbered from one without gaps) {
  auto turn = tool_turn(mode::background);
  say("done");
  auto reader = attach(turn.id);
  kinds(*reader);
  for (std::size_t i = 0; i + 3 < reader->events.size(); ++i)
    CAF_CHECK(reader->events[i].find("\"seq_id\":" + std::to_string(i + 1)) != std::string::npos);
}

CAF_TEST(a reader that waits is woken by the next event) {
  auto turn = send(ada, "hello", mode::background);
  settle();
  auto first = attach(turn.id), second = attach(turn.id);
  int woken = 0;
  asio::co_spawn(io, wait_for_one(*first, woken), asio::detached);
  asio::co_spawn(io, wait_for_one(*second, woken), asio::detached);
  settle();
  CAF_CHECK_EQUAL(woken, 0);
  say("hi");
  CAF_CHECK_EQUAL(woken, 2);
  CAF_CHECK_EQUAL(first->events.size(), 4u);
  CAF_CHECK_EQUAL(first->events, second->events);
}

CAF_TEST(a reader that leaves does not stop the turn) {
  for (auto how : {mode::stream, mode::background}) {
    auto turn = tool_turn(how);
    auto reader = attach(turn.id);
    kinds(*reader);
    reader.reset();
    say("done");
    CAF_CHECK(row(turn.id).status == run_status::completed);
    CAF_CHECK_EQUAL(last_line(ada), "assistant: done");
  }
}

CAF_TEST(logs that nobody will read are forgotten) {
  auto foreground = send(ada, "hello", mode::stream);
  settle();
  say("hi");
  auto background = send(ada, "hello", mode::background);
  settle();
  say("hi");
  streams->sweep();
  CAF_CHECK_EQUAL(streams->size(), 2u);
  pass(61s);
  streams->sweep();
  CAF_CHECK(!streams->knows(foreground.id));
  CAF_CHECK(streams->knows(background.id));
  advance_time(3h);
  settle();
  streams->sweep();
  CAF_CHECK_EQUAL(streams->size(), 0u);
}

CAF_TEST(a run that is still going keeps its log) {
  auto turn = send(ada, "hello", mode::background);
  pass(300s);
  streams->sweep();
  say("hi");
  auto reader = attach(turn.id);
  CAF_CHECK_EQUAL(kinds(*reader),
                  (lines{"assistant_message", "stop_reason", "usage_statistics", done_event}));
}

CAF_TEST(a failed model is the end of the stream) {
  auto turn = send(ada, "hello", mode::background);
  settle();
  auto reader = attach(turn.id);
  say(llm_failure(errc::llm_rate_limit, "LLMRateLimitError", "RATE_LIMIT_EXCEEDED: slow down"));
  auto seen = kinds(*reader);
  CAF_REQUIRE(seen.size() >= 2);
  CAF_CHECK_EQUAL(seen[0], "stop_reason");
  CAF_CHECK_EQUAL(seen[1], "error_message");
  CAF_CHECK(reader->ended);
}

CAF_TEST(an asynchronous run has no stream) {
  auto turn = send(ada, "hello", mode::async);
  settle();
  say("hi");
  CAF_CHECK(!streams->knows(turn.id));
  CAF_CHECK(row(turn.id).status == run_status::completed);
}

CAF_TEST_FIXTURE_SCOPE_END()
