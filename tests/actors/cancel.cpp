// A run can be cancelled in every state; what follows it goes on.
#define CAF_SUITE cancel
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});

  void check_cancelled(const sent_turn& t) {
    auto r = row(t.id);
    CAF_CHECK(r.status == run_status::cancelled);
    CAF_CHECK(r.stop_reason_ == stop_reason::cancelled);
    CAF_CHECK(r.completed_at.has_value());
    if (t.how != mode::blocking) return;
    CAF_REQUIRE(t.reply->value);
    CAF_CHECK(t.body().find(R"("stop_reason":"cancelled")") != std::string::npos);
  }
  // The agent is as good as before.
  void check_next_turn() {
    auto next = send(ada, "and now?");
    settle();
    say("all well");
    CAF_CHECK(next.reply->value.has_value());
    CAF_CHECK(row(next.id).status == run_status::completed);
    auto h = history(ada);
    CAF_REQUIRE(h.size() >= 2);
    CAF_CHECK_EQUAL(h[h.size() - 2], "user: and now?");
    CAF_CHECK_EQUAL(h.back(), "assistant: all well");
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(cancel_tests, fixture)

CAF_TEST(a queued turn is cancelled when it comes up and the ones around it run) {
  auto first = send(ada, "one"), second = send(ada, "two"), third = send(ada, "three");
  settle();
  auto done = cancel(second);
  settle();
  CAF_CHECK(done->value == true);
  CAF_CHECK(first.open());
  say("answer 1");
  check_cancelled(second);
  CAF_CHECK_EQUAL(only_call().of().str(), third.id.str());
  say("answer 3");
  CAF_CHECK_EQUAL(history(ada),
                  (lines{"user: one", "assistant: answer 1", "user: three", "assistant: answer 3"}));
  CAF_CHECK(row(second.id).steps.empty());
}

CAF_TEST(a turn that waits for the model ends at once and its late reply is nowhere) {
  for (auto how : {mode::blocking, mode::stream, mode::background, mode::async}) {
    auto before = history(ada);
    auto turn = send(ada, "hello", how);
    settle();
    auto done = cancel(turn);
    settle();
    CAF_CHECK(done->value == true);
    CAF_CHECK(!turn.open());
    check_cancelled(turn);
    CAF_REQUIRE_EQUAL(desk->calls.size(), 1u);
    CAF_CHECK(desk->calls[0].abandoned);
    answer_model(0, text_reply("too late"));
    settle();
    CAF_CHECK_EQUAL(history(ada), before);
    check_cancelled(turn);
  }
  check_next_turn();
}

CAF_TEST(the step that was cancelled is kept as cancelled) {
  auto turn = send(ada, "hello");
  settle();
  cancel(turn);
  settle();
  auto steps = storage::steps_of(*snapshot(), row(turn.id));
  CAF_REQUIRE_EQUAL(steps.size(), 1u);
  CAF_CHECK(steps[0].status == step_status::cancelled);
  CAF_CHECK(steps[0].stop_reason_ == stop_reason::cancelled);
  CAF_CHECK_EQUAL(steps[0].total_tokens, 0);
}

CAF_TEST(a stream of tokens stops where it is) {
  auto request = text_request("tell me a story");
  request.stream_tokens = true;
  auto turn = send(ada, request, mode::stream);
  settle();
  auto reader = attach(turn.id);
  show_token(turn.id, R"({"message_type":"assistant_message","content":"Once"})");
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"assistant_message"}));
  cancel(turn);
  settle();
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"assistant_message", "stop_reason"}));
  CAF_CHECK(reader->events.back().find(R"("cancelled")") != std::string::npos);
  CAF_CHECK(reader->ended);
  show_token(turn.id, R"({"message_type":"assistant_message","content":" upon"})");
  answer_model(0, text_reply("Once upon a time"), true);
  settle();
  CAF_CHECK_EQUAL(kinds(*reader).size(), 2u);
  check_cancelled(turn);
  CAF_CHECK(history(ada).empty());
  reader.reset();
  check_next_turn();
}

CAF_TEST(tools that have run are stored with their results before the turn ends) {
  auto turn = send(ada, "remember this");
  settle();
  hold(store);
  answer_model(0, call_reply({append_call("call-1", "likes tea")}));
  settle(); // the tool has run; its step is on the way to the disk
  CAF_CHECK_EQUAL(block_value(ada), "");
  auto done = cancel(turn);
  settle();
  CAF_CHECK(turn.open());
  release();
  CAF_CHECK(done->value == true);
  check_cancelled(turn);
  CAF_CHECK(block_value(ada).find("likes tea") != std::string::npos);
  CAF_CHECK_EQUAL(history(ada), (lines{"user: remember this", "assistant: call-1 = core_memory_append",
                                       "tool: call-1 -> success"}));
  CAF_CHECK(desk->calls.empty()); // the model is not asked again
  check_next_turn();
}

CAF_TEST(what earlier steps of the turn have stored stays) {
  auto turn = send(ada, "remember this");
  settle();
  say(call_reply({append_call("call-1", "likes tea")}));
  auto late = only_call().step();
  cancel(turn);
  settle();
  check_cancelled(turn);
  CAF_CHECK_EQUAL(history(ada).size(), 3u);
  CAF_CHECK_EQUAL(row(turn.id).steps.size(), 2u);
  CAF_CHECK(desk->calls[0].step() == late);
  answer_model(0, text_reply("too late"));
  settle();
  CAF_CHECK_EQUAL(history(ada).size(), 3u);
  check_next_turn();
}

CAF_TEST(a turn whose last step is being stored is done) {
  auto turn = send(ada, "hello");
  settle();
  hold(store);
  answer_model(0, text_reply("hi"));
  settle();
  auto done = cancel(turn);
  settle();
  release();
  CAF_CHECK(done->value == true);
  CAF_CHECK(!turn.open());
  auto r = row(turn.id);
  CAF_CHECK(is_terminal(r.status));
  CAF_CHECK_EQUAL(history(ada), (lines{"user: hello", "assistant: hi"}));
  check_next_turn();
}

CAF_TEST(a run that is not yet durable can be cancelled) {
  hold(store);
  auto turn = send(ada, "hello", mode::stream);
  settle();
  cancel(turn);
  settle();
  release();
  CAF_CHECK(turn.reply->value.has_value());
  check_cancelled(turn);
  check_next_turn();
}

CAF_TEST(a run that has ended does not change) {
  auto turn = send(ada, "hello");
  settle();
  say("hi");
  auto before = codec::encode(row(turn.id));
  auto done = cancel(turn);
  settle();
  CAF_CHECK(done->value == false);
  CAF_CHECK(codec::encode(row(turn.id)) == before);
  check_next_turn();
}

CAF_TEST(an unknown run is not here) {
  auto stranger = send(make_agent(), "hello");
  settle();
  auto elsewhere = stranger;
  elsewhere.agent = ada;
  auto done = cancel(elsewhere);
  settle();
  CAF_CHECK(done->value == false);
  CAF_CHECK(stranger.open());
}

CAF_TEST(cancelling twice is cancelling) {
  auto turn = send(ada, "remember this");
  settle();
  hold(store);
  answer_model(0, call_reply({append_call("call-1", "likes tea")}));
  settle();
  auto first = cancel(turn), second = cancel(turn);
  settle();
  release();
  CAF_CHECK(first->value == true);
  CAF_CHECK(second->value == true);
  check_cancelled(turn);
  check_next_turn();
}

CAF_TEST(a cancellation overtakes what waits in the mailbox) {
  auto turn = send(ada, "one");
  settle();
  auto agent = caller();
  hold(agent);
  std::vector<sent_turn> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(send(ada, "more"));
  settle();
  auto done = cancel(turn);
  settle();
  CAF_CHECK(done->open());
  step(agent); // one message: it is the cancellation
  settle();
  CAF_CHECK(desk->calls[0].abandoned);
  for (auto& t : waiting) CAF_CHECK(!storage::find_run(*snapshot(), t.id));
  release();
  CAF_CHECK(done->value == true);
  check_cancelled(turn);
}

CAF_TEST_FIXTURE_SCOPE_END()
