// Turns of one agent run one after another, in the order in which they came.
#define CAF_SUITE queue
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  agent_id ada = make_agent();
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(queue_tests, fixture)

CAF_TEST(turns run in the order of arrival and never side by side) {
  std::vector<sent_turn> turns;
  for (auto text : {"one", "two", "three"}) turns.push_back(send(ada, text));
  settle();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    CAF_CHECK_EQUAL(only_call().of().str(), turns[i].id.str());
    for (auto j = i; j < turns.size(); ++j) CAF_CHECK(turns[j].open());
    say("answer " + std::to_string(i + 1));
    CAF_REQUIRE(turns[i].reply->value);
    CAF_CHECK(turns[i].body().find("answer " + std::to_string(i + 1)) != std::string::npos);
    CAF_CHECK(row(turns[i].id).status == run_status::completed);
    CAF_CHECK(row(turns[i].id).stop_reason_ == stop_reason::end_turn);
  }
  CAF_CHECK_EQUAL(history(ada), (lines{"user: one", "assistant: answer 1", "user: two", "assistant: answer 2",
                                       "user: three", "assistant: answer 3"}));
}

CAF_TEST(what a turn sees is what the turns before it have stored) {
  send(ada, "my name is Ada");
  send(ada, "who am I?");
  settle();
  CAF_CHECK(only_call().body->find("who am I?") == std::string::npos);
  say("hello Ada");
  auto& body = *only_call().body;
  CAF_CHECK(body.find("my name is Ada") < body.find("hello Ada"));
  CAF_CHECK(body.find("hello Ada") < body.find("who am I?"));
  CAF_CHECK(body.find("who am I?") != std::string::npos);
}

CAF_TEST(agents run side by side) {
  auto bob = make_agent();
  auto first = send(ada, "to ada");
  auto second = send(bob, "to bob");
  settle();
  CAF_REQUIRE_EQUAL(desk->calls.size(), 2u);
  answer_model(1, text_reply("from bob"));
  settle();
  CAF_CHECK(first.open());
  CAF_CHECK(!second.open());
  CAF_CHECK_EQUAL(history(bob), (lines{"user: to bob", "assistant: from bob"}));
}

CAF_TEST(a full queue refuses and says when to come back) {
  std::vector<sent_turn> turns;
  for (std::size_t i = 0; i < limits.max_queue + 1; ++i) turns.push_back(send(ada, "turn"));
  settle();
  auto refused = send(ada, "one too many");
  auto refused_edit = edit(ada, [](storage::transaction&) -> result<void> { return {}; });
  settle();
  for (auto& t : turns) CAF_CHECK(t.open());
  CAF_CHECK(refused.code() == errc::too_many_requests);
  CAF_CHECK(refused.reply->failure->extra.contains("retry_after_s"));
  CAF_CHECK(refused_edit->code() == errc::too_many_requests);
  CAF_CHECK(!storage::find_run(*snapshot(), refused.id));
  say("answer"); // one place is free
  auto accepted = send(ada, "another");
  settle();
  for (std::size_t i = 0; i < limits.max_queue + 1; ++i) say("answer");
  for (auto& t : turns) CAF_CHECK(t.reply->value.has_value());
  CAF_CHECK(accepted.reply->value.has_value());
  CAF_CHECK_EQUAL(history(ada).size(), 2 * (limits.max_queue + 2));
}

CAF_TEST(an edit waits for the turn before it and the turn after it waits for the edit) {
  lines order;
  auto first = send(ada, "one");
  auto change = edit(ada, [&](storage::transaction& t) -> result<void> {
    storage::clear_context(t, {ada, std::nullopt});
    return {};
  });
  auto second = send(ada, "two");
  settle();
  CAF_CHECK(change->open());
  hold(store); // the edit is in the writer's mailbox
  answer_model(0, text_reply("answer 1"));
  settle();
  release();
  CAF_CHECK(change->value.has_value());
  CAF_CHECK(!first.open());
  // The second turn began on the emptied context.
  CAF_CHECK(only_call().body->find("answer 1") == std::string::npos);
  say("answer 2");
  CAF_CHECK(second.reply->value.has_value());
}

CAF_TEST(no turn begins while an edit is being written) {
  hold(store);
  auto change = edit(ada, [](storage::transaction&) -> result<void> { return {}; });
  auto turn = send(ada, "one");
  settle();
  CAF_CHECK(desk->calls.empty());
  release();
  CAF_CHECK(change->value.has_value());
  CAF_CHECK_EQUAL(desk->count(turn.id), 1u);
}

CAF_TEST(an edit that fails tells so and the queue goes on) {
  auto change = edit(ada, [](storage::transaction&) -> result<void> { return fail(errc::conflict, "no"); });
  auto turn = send(ada, "one");
  settle();
  CAF_CHECK(change->code() == errc::conflict);
  say("answer");
  CAF_CHECK(turn.reply->value.has_value());
}

CAF_TEST(an agent that is not there is refused at once) {
  for (auto how : {mode::blocking, mode::stream, mode::background, mode::async}) {
    auto turn = send(env.make_id<agent_id>(), "hello", how);
    settle();
    CAF_CHECK(turn.code() == errc::not_found);
    CAF_CHECK(!storage::find_run(*snapshot(), turn.id));
  }
}

CAF_TEST(a conversation that is not there is refused in the same words) {
  for (auto how : {mode::blocking, mode::stream, mode::background, mode::async}) {
    auto turn = send(ada, text_request("hello"), how, env.make_id<conversation_id>());
    settle();
    CAF_CHECK(turn.code() == errc::not_found);
    CAF_CHECK(row(turn.id).status == run_status::failed);
  }
}

CAF_TEST(an agent that is deleted while a turn waits answers the turn) {
  std::vector<sent_turn> waiting;
  auto first = send(ada, "one");
  for (auto how : {mode::blocking, mode::stream, mode::background, mode::async})
    waiting.push_back(send(ada, "two", how));
  settle();
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    storage::erase_agent(t, *storage::find_agent(t, ada));
    return {};
  }));
  say("too late");
  CAF_CHECK(first.code() == errc::not_found);
  for (auto& t : waiting) CAF_CHECK(!t.open());
  CAF_CHECK(waiting[0].code() == errc::not_found);
  CAF_CHECK(desk->calls.empty());
}

CAF_TEST(streams and asynchronous requests are answered when their run is durable) {
  for (auto how : {mode::stream, mode::background, mode::async}) {
    hold(store);
    auto turn = send(ada, "hello", how);
    settle();
    CAF_CHECK(turn.open());
    release();
    CAF_CHECK(turn.reply->value.has_value());
    CAF_CHECK(!is_terminal(row(turn.id).status));
    say("hi");
    CAF_CHECK(row(turn.id).status == run_status::completed);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
