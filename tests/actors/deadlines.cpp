// Every wait has an end, and every request an answer.
#define CAF_SUITE deadlines
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  fixture() : house(1, patient_for(30s)) {}
  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});

  void check_next_turn() {
    auto next = send(ada, "and now?");
    settle();
    say("all well");
    CAF_CHECK(next.reply->value.has_value());
    CAF_CHECK(row(next.id).status == run_status::completed);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(deadline_tests, fixture)

CAF_TEST(a model that never answers ends the turn) {
  auto turn = send(ada, "hello");
  pass(29s);
  CAF_CHECK(turn.open());
  CAF_CHECK(!desk->calls[0].abandoned);
  pass(3s);
  CAF_CHECK(turn.code() == errc::llm_timeout);
  CAF_CHECK(desk->calls[0].abandoned);
  CAF_CHECK(row(turn.id).status == run_status::failed);
  auto steps = storage::steps_of(*snapshot(), row(turn.id));
  CAF_REQUIRE_EQUAL(steps.size(), 1u);
  CAF_CHECK(steps[0].status == step_status::failed);
  CAF_CHECK(steps[0].error_type == "LLMTimeoutError");
  CAF_CHECK(history(ada).empty());
  answer_model(0, text_reply("too late"));
  settle();
  CAF_CHECK(history(ada).empty());
  check_next_turn();
}

CAF_TEST(a stream that times out says so and ends) {
  auto turn = send(ada, "hello", mode::stream);
  pass(1s);
  auto reader = attach(turn.id);
  pass(31s);
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"stop_reason", "error_message", "data: [DONE]\n\n"}));
  CAF_CHECK(reader->events[1].starts_with("event: error\n"));
  CAF_CHECK(reader->ended);
  CAF_CHECK(row(turn.id).status == run_status::failed);
  check_next_turn();
}

CAF_TEST(turns behind a silent model come up one by one) {
  auto first = send(ada, "one"), second = send(ada, "two");
  pass(32s);
  CAF_CHECK(first.code() == errc::llm_timeout);
  CAF_CHECK(second.open());
  pass(32s);
  CAF_CHECK(second.code() == errc::llm_timeout);
  check_next_turn();
}

CAF_TEST(the time counts for each call) {
  auto turn = send(ada, "hello");
  pass(20s);
  say(call_reply({append_call("call-1", "a")}));
  pass(20s);
  say(call_reply({append_call("call-2", "b")}));
  pass(20s);
  CAF_CHECK(turn.open());
  say("done");
  CAF_CHECK(turn.reply->value.has_value());
  CAF_CHECK_EQUAL(row(turn.id).steps.size(), 3u);
}

CAF_TEST(nobody keeps a clock while nothing runs) {
  auto turn = send(ada, "hello");
  settle();
  say("hi");
  pass(3s);
  CAF_CHECK_EQUAL(sched.clock().schedule().size(), 1u); // the directory's
}

CAF_TEST(a failing model ends the turn with its error) {
  auto turn = send(ada, "hello");
  settle();
  say(llm_failure(errc::llm_rate_limit, "LLMRateLimitError", "RATE_LIMIT_EXCEEDED: slow down"));
  CAF_CHECK(turn.code() == errc::llm_rate_limit);
  CAF_CHECK(row(turn.id).status == run_status::failed);
  check_next_turn();
}

CAF_TEST(an actor of the models that dies is an error of the call) {
  auto turn = send(ada, "hello");
  settle();
  caf::anon_send_exit(models, caf::exit_reason::kill);
  pass(31s);
  CAF_CHECK(!turn.open());
  CAF_CHECK(turn.reply->failure.has_value());
  CAF_CHECK(row(turn.id).status == run_status::failed);
}

CAF_TEST(when the actor of a context dies its clients are answered and the next turn works) {
  auto running = send(ada, "one"), queued = send(ada, "two");
  auto change = edit(ada, [](storage::transaction&) -> result<void> { return {}; });
  settle();
  caf::anon_send_exit(caller(), caf::exit_reason::kill);
  settle();
  CAF_CHECK(running.code() == errc::internal);
  CAF_CHECK(queued.code() == errc::internal);
  CAF_CHECK(change->code() == errc::internal);
  // No run of it stays open.
  CAF_CHECK(row(running.id).status == run_status::failed);
  CAF_CHECK(row(queued.id).status == run_status::failed);
  CAF_CHECK(storage::active_runs(*snapshot()).empty());
  desk->calls.clear();
  check_next_turn();
}

CAF_TEST(the death of one context leaves the runs of others alone) {
  auto bob = make_agent();
  auto his = send(bob, "hello");
  settle();
  auto his_call = only_call().step();
  auto hers = send(ada, "hello");
  settle();
  auto& call = desk->calls[desk->calls[0].step() == his_call ? 1 : 0];
  caf::anon_send_exit(caf::actor_cast<caf::actor>(call.caller), caf::exit_reason::kill);
  settle();
  CAF_CHECK(hers.code() == errc::internal);
  CAF_CHECK(his.open());
  answer_model(desk->calls[0].step() == his_call ? 0 : 1, text_reply("hi"));
  settle();
  CAF_CHECK(row(his.id).status == run_status::completed);
}

CAF_TEST_FIXTURE_SCOPE_END()
