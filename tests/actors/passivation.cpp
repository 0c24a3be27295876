// Idle contexts leave memory; what comes for them brings them back, and nothing is lost on the way.
#define CAF_SUITE passivation
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  agent_id ada = make_agent();

  // The actor of the context, after a turn in it.
  caf::actor activate(const std::string& text = "hello") {
    send(ada, text);
    settle();
    auto agent = caller();
    say("hi");
    return agent;
  }
};

constexpr auto idle = 66s; // the directory's patience, and a tick

} // namespace

CAF_TEST_FIXTURE_SCOPE(passivation_tests, fixture)

CAF_TEST(an idle agent leaves and the next message brings it back) {
  CAF_CHECK_EQUAL(resident(), 0u);
  activate("my name is Ada");
  CAF_CHECK_EQUAL(resident(), 1u);
  pass(50s);
  CAF_CHECK_EQUAL(resident(), 1u);
  pass(16s);
  CAF_CHECK_EQUAL(resident(), 0u);
  auto turn = send(ada, "who am I?");
  settle();
  CAF_CHECK(only_call().body->find("my name is Ada") != std::string::npos);
  say("Ada");
  CAF_CHECK(turn.reply->value.has_value());
  CAF_CHECK_EQUAL(history(ada),
                  (lines{"user: my name is Ada", "assistant: hi", "user: who am I?", "assistant: Ada"}));
}

CAF_TEST(only the idle ones leave) {
  auto bob = make_agent();
  activate();
  pass(40s);
  send(bob, "hello");
  settle();
  say("hi");
  pass(30s);
  CAF_CHECK_EQUAL(resident(), 1u);
  pass(36s);
  CAF_CHECK_EQUAL(resident(), 0u);
}

CAF_TEST(an agent that waits for its model stays) {
  auto turn = send(ada, "hello");
  pass(idle * 3);
  CAF_CHECK_EQUAL(resident(), 1u);
  say("hi");
  CAF_CHECK(turn.reply->value.has_value());
  CAF_CHECK_EQUAL(history(ada), (lines{"user: hello", "assistant: hi"}));
}

CAF_TEST(an agent whose edit is being written stays) {
  hold(store);
  auto change = edit(ada, [](storage::transaction&) -> result<void> { return {}; });
  pass(idle);
  release();
  CAF_CHECK(change->value.has_value());
}

CAF_TEST(an agent that has the end of a run to store stays) {
  auto turn = send(ada, "hello");
  settle();
  {
    armed_fault full("store.commit", faults::kind::disk_full);
    say("hi");
    CAF_CHECK(turn.code() == errc::storage_full);
    pass(idle);
  }
  pass(2s);
  CAF_CHECK(row(turn.id).status == run_status::failed);
}

CAF_TEST(a message that meets the departure waits for the next actor) {
  auto agent = activate();
  hold(agent);
  pass(idle); // it has been asked to leave and has not answered
  auto turn = send(ada, "are you there?");
  auto change = edit(ada, [](storage::transaction&) -> result<void> { return {}; });
  settle();
  CAF_CHECK(turn.open());
  CAF_CHECK(desk->calls.empty());
  release();
  CAF_REQUIRE_EQUAL(desk->calls.size(), 1u);
  CAF_CHECK(caller() != agent);
  say("I am");
  CAF_CHECK(turn.reply->value.has_value());
  CAF_CHECK(change->value.has_value());
  CAF_CHECK_EQUAL(resident(), 1u);
}

CAF_TEST(a message that came before the question keeps the agent) {
  auto agent = activate();
  hold(agent);
  auto turn = send(ada, "are you there?");
  pass(idle);
  auto later = send(ada, "and now?"); // while it is asked
  settle();
  release();
  CAF_CHECK(caller() == agent);
  CAF_CHECK_EQUAL(only_call().of().str(), turn.id.str());
  say("I am");
  CAF_CHECK_EQUAL(only_call().of().str(), later.id.str());
  say("still");
  CAF_CHECK(later.reply->value.has_value());
}

CAF_TEST(a cancellation that meets the question is not lost) {
  auto turn = send(ada, "hello");
  settle();
  auto agent = caller();
  hold(agent);
  pass(idle);
  auto done = cancel(turn);
  settle();
  release();
  CAF_CHECK(done->value == true);
  CAF_CHECK(row(turn.id).status == run_status::cancelled);
}

CAF_TEST(nothing runs where nobody is) {
  auto turn = send(ada, "hello");
  settle();
  say("hi");
  pass(idle);
  auto done = cancel(turn);
  settle();
  CAF_CHECK(done->value == false);
  CAF_CHECK_EQUAL(resident(), 0u);
}

CAF_TEST(a thousand agents come and go) {
  std::vector<agent_id> all;
  for (int i = 0; i < 1000; ++i) all.push_back(make_agent());
  for (auto& a : all) edit(a, [](storage::transaction&) -> result<void> { return {}; });
  CAF_CHECK_EQUAL(resident(), 1000u);
  pass(idle);
  CAF_CHECK_EQUAL(resident(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
