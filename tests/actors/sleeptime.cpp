// Companions: when they are told, what, and what becomes of it (reference: groups §2.4, §7.6).
#define CAF_SUITE sleeptime
#include "storage/cancel.hpp"
#include "storage/conversations.hpp"
#include "storage/setup.hpp"
#include "tests/actors/sleeptime_house.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : sleeptime_house {
  std::string metadata(const run_id& id, std::string_view name) {
    auto r = row(id);
    auto* v = json::find(r.metadata, name);
    return v && v->is_string() ? std::string(json::view(v->get_string())) : v ? "object" : "";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sleeptime_tests, fixture)

CAF_TEST(a companion is told of every turn and its run ends with a whole answer) {
  auto ids = talk("hello");
  CAF_REQUIRE_EQUAL(ids.size(), 1u);
  CAF_CHECK(row(ids[0]).status == run_status::created);
  CAF_CHECK_EQUAL(metadata(ids[0], "run_type"), "sleeptime_agent_send_message_async");
  reply_to(companion(), text_reply("noted"));
  auto done = row(ids[0]);
  CAF_CHECK(done.status == run_status::completed);
  CAF_CHECK(done.stop_reason_ == stop_reason::end_turn);
  CAF_CHECK_EQUAL(metadata(ids[0], "result"), "object");
  CAF_CHECK_EQUAL(letters(), (lines{"user: hello\nassistant: you said hello"}));
  CAF_CHECK(pair().last_processed_message_id.has_value());
  auto j = job();
  CAF_REQUIRE(j);
  CAF_CHECK(!j->working && j->waiting.empty() && j->accepted == j->upto);
  CAF_CHECK(!storage::next_due(*snapshot()));
  CAF_CHECK(storage::check(*snapshot()).problems.empty());
}

CAF_TEST(a hundred turns during one slow run make one more run) {
  std::vector<run_id> all;
  for (int i = 1; i <= 100; ++i) {
    auto ids = talk("turn-" + std::to_string(i) + ".");
    CAF_REQUIRE_EQUAL(ids.size(), 1u);
    all.push_back(ids[0]);
  }
  CAF_CHECK_EQUAL(job()->waiting.size(), 99u);
  reply_to(companion(), text_reply("noted"));
  reply_to(companion(), text_reply("noted again"));
  CAF_CHECK(!call_of(companion()));
  auto told = letters();
  CAF_REQUIRE_EQUAL(told.size(), 2u);
  CAF_CHECK(told[0].find("turn-1.") != std::string::npos);
  for (int i = 2; i <= 100; ++i)
    CAF_CHECK(told[1].find("user: turn-" + std::to_string(i) + ".") != std::string::npos);
  CAF_CHECK(told[1].find("turn-1.\n") == std::string::npos);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAF_CHECK(row(all[i]).status == run_status::completed);
    CAF_CHECK_EQUAL(metadata(all[i], "coalesced_into"), i < 2 ? "" : all[1].str());
  }
}

CAF_TEST(only whole exchanges count) {
  enable(2);
  auto cancelled = send(ada, "never mind");
  settle();
  cancel(cancelled);
  settle();
  auto broken = send(ada, "this fails");
  settle();
  reply_to(ada, llm_failure(errc::llm_error, "LLMError", "INTERNAL_SERVER_ERROR: no"));
  CAF_CHECK(broken.reply->failure.has_value());
  CAF_CHECK(pair().turns_counter == -1);
  std::vector<std::size_t> triggered;
  for (std::size_t i = 1; i <= 6; ++i) {
    if (!talk("turn").empty()) triggered.push_back(i);
    if (call_of(companion())) reply_to(companion(), text_reply("noted"));
  }
  CAF_CHECK_EQUAL(triggered, (std::vector<std::size_t>{1, 3, 5}));
  CAF_CHECK(pair().turns_counter == 1);
}

CAF_TEST(a turn that is cancelled is told with the next) {
  auto turn = send(ada, "remember this");
  settle();
  reply_to(ada, call_reply({append_call("call-1", "likes tea")}));
  cancel(turn); // a step is stored by now
  settle();
  talk("hello");
  reply_to(companion(), text_reply("noted"));
  CAF_REQUIRE_EQUAL(letters().size(), 1u);
  CAF_CHECK(last_letter().starts_with("user: remember this\nassistant: Tool used: core_memory_append("));
  CAF_CHECK(last_letter().ends_with("user: hello\nassistant: you said hello"));
}

CAF_TEST(a failure that may pass is tried again and leaves no trace) {
  auto ids = talk("hello");
  reply_to(companion(), overloaded());
  CAF_CHECK(!call_of(companion()));
  CAF_CHECK(row(ids[0]).status == run_status::running);
  CAF_CHECK(job()->last_error.has_value());
  CAF_CHECK(job()->working->tries.failed == 1);
  pass(4s);
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(ids[0]).status == run_status::completed);
  CAF_CHECK(!job()->last_error);
  CAF_CHECK_EQUAL(letters().size(), 1u);
}

CAF_TEST(after three failures the run fails and the next one tells everything) {
  auto first = talk("one");
  for (int i = 0; i < 3; ++i) {
    reply_to(companion(), overloaded());
    pass(20s);
  }
  CAF_CHECK(!call_of(companion()));
  CAF_CHECK(row(first[0]).status == run_status::failed);
  CAF_CHECK(row(first[0]).stop_reason_ == stop_reason::error);
  CAF_CHECK(!metadata(first[0], "error").empty());
  CAF_CHECK(job()->last_error && !job()->working && job()->accepted < job()->upto);
  auto second = talk("two");
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(second[0]).status == run_status::completed);
  CAF_CHECK_EQUAL(last_letter(), "user: one\nassistant: you said one\nuser: two\nassistant: you said two");
}

CAF_TEST(a limit of requests does not count as a try) {
  auto ids = talk("hello");
  for (int i = 0; i < 4; ++i) {
    reply_to(companion(), llm_failure(errc::llm_rate_limit, "LLMRateLimitError", "slow down"));
    pass(200s);
  }
  CAF_CHECK(job()->working->tries.failed == 0);
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(ids[0]).status == run_status::completed);
}

CAF_TEST(a failure that will not pass ends the run at once) {
  auto ids = talk("hello");
  reply_to(companion(), llm_failure(errc::llm_authentication, "LLMAuthenticationError", "wrong key"));
  CAF_CHECK(row(ids[0]).status == run_status::failed);
  CAF_CHECK(!job()->working);
  CAF_CHECK(job()->last_error.has_value());
}

CAF_TEST(after a restart a run goes on behind its last step) {
  auto ids = talk("hello");
  reply_to(companion(), call_reply({insert_call("call-1", "said hello")}));
  CAF_CHECK(block_value(ada).find("said hello") != std::string::npos);
  crash();
  auto call = call_of(companion());
  CAF_REQUIRE(call);
  CAF_CHECK(desk->calls[*call].of() == ids[0]);
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(ids[0]).status == run_status::completed);
  CAF_CHECK_EQUAL(letters().size(), 1u);
  auto value = block_value(ada);
  CAF_CHECK_EQUAL(value.find("said hello"), value.rfind("said hello"));
}

CAF_TEST(what waits is not lost with the process) {
  talk("one");
  auto second = talk("two");
  crash();
  reply_to(companion(), text_reply("noted"));
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(second[0]).status == run_status::completed);
  CAF_CHECK_EQUAL(letters().size(), 2u);
}

CAF_TEST(switched off what waits is cancelled and what is at work goes on) {
  auto first = talk("one"), second = talk("two");
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    storage::cancel_waiting_jobs(t, pair().id, env);
    return {};
  }));
  CAF_CHECK(row(second[0]).status == run_status::cancelled);
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(first[0]).status == run_status::completed);
  CAF_CHECK(!call_of(companion()));
  auto third = talk("three");
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(last_letter().starts_with("user: two")); // nothing is left out
}

CAF_TEST(when the group goes all of it is cancelled) {
  auto first = talk("one"), second = talk("two");
  auto who = companion();
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    storage::erase_group(t, pair(), env);
    return {};
  }));
  for (auto& id : {first[0], second[0]}) CAF_CHECK(row(id).status == run_status::cancelled);
  pass(2s);
  CAF_CHECK(!call_of(who)); // nobody waits for the model any more
  CAF_CHECK(!storage::next_due(*snapshot()));
  CAF_CHECK(talk("three").empty());
}

CAF_TEST(when the agent goes its companion stops) {
  talk("one");
  CAF_REQUIRE(commit(
      [&](storage::transaction& t) { return storage::delete_agent(t, *storage::find_agent(t, ada), env); }));
  pass(2s);
  for (auto& c : desk->calls) CAF_CHECK(c.abandoned);
  CAF_CHECK(!storage::next_due(*snapshot()));
  CAF_CHECK(storage::check(*snapshot()).problems.empty());
}

CAF_TEST(a run that is cancelled by its id leaves the others alone) {
  talk("one");
  auto second = talk("two"), third = talk("three");
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    auto r = *storage::find_run(t, second[0]);
    r.status = run_status::cancelled;
    storage::run_ended(t, r);
    storage::put_run(t, r);
    return {};
  }));
  reply_to(companion(), text_reply("noted"));
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK(row(second[0]).status == run_status::cancelled);
  CAF_CHECK(row(third[0]).status == run_status::completed);
  CAF_CHECK(last_letter().starts_with("user: two"));
}

CAF_TEST(idle_seconds puts the companion off until nobody talks) {
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    auto g = pair();
    g.options.idle_seconds = 10;
    storage::save_group(t, g);
    return {};
  }));
  talk("one");
  pass(6s);
  talk("two");
  pass(6s);
  CAF_CHECK(!call_of(companion()));
  pass(5s);
  CAF_REQUIRE(call_of(companion()));
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK_EQUAL(letters().size(), 1u);
}

CAF_TEST(a long history is told in pieces) {
  std::string words(12'000, 'x'); // a third of 32,000 tokens is about 42,000 bytes
  enable(20);
  talk("first");
  reply_to(companion(), text_reply("noted"));
  std::vector<run_id> ids;
  for (int i = 0; ids.empty(); ++i) ids = talk(words + " number-" + std::to_string(i) + ".");
  std::size_t runs = 0;
  while (call_of(companion())) {
    CAF_REQUIRE(++runs < 40);
    reply_to(companion(), text_reply("noted"));
  }
  CAF_CHECK(runs > 5);
  CAF_CHECK(row(ids[0]).status == run_status::completed);
  std::string all;
  for (auto& letter : letters()) {
    CAF_CHECK(letter.size() < 43'000);
    CAF_CHECK(letter.starts_with("user: "));
    all += letter;
  }
  for (int i = 0; i < 20; ++i) {
    auto line = "xx number-" + std::to_string(i) + ".\n";
    CAF_CHECK(all.find(line) != std::string::npos);
    CAF_CHECK(all.find(line) == all.rfind(line));
  }
}

CAF_TEST(a companion begins in a pause of the turns in front or after a while) {
  sleeper_limits.pause = 3ms;
  crash(); // every actor begins anew, with the limits
  auto bob = make_agent({});
  auto pauses = [&](int n) {
    for (int i = 0; i < n; ++i) pass(3ms);
  };
  send(bob, "think about it");
  talk("hello");
  pauses(20);
  CAF_CHECK(!call_of(companion()));
  reply_to(bob, text_reply("done"));
  pauses(1); // nobody is in front any more
  CAF_CHECK(!call_of(companion()));
  pauses(1); // and nobody was
  CAF_REQUIRE(call_of(companion()));
  reply_to(companion(), text_reply("noted"));
  send(bob, "think about this, too");
  talk("hello again");
  pauses(sleeper_limits.most_pauses - 1);
  CAF_CHECK(!call_of(companion()));
  pauses(1);
  CAF_CHECK(call_of(companion()));
}

CAF_TEST(what a run covers does not depend on when it begins) {
  sleeper_limits.pause = 3ms;
  crash();
  auto bob = make_agent({});
  send(bob, "think about it"); // so that companions wait
  auto first = talk("one"), second = talk("two"), third = talk("three");
  for (int i = 0; i < 40; ++i) pass(3ms);
  CAF_REQUIRE(call_of(companion()));
  reply_to(companion(), text_reply("noted"));
  for (int i = 0; i < 40; ++i) pass(3ms);
  reply_to(companion(), text_reply("noted, too"));
  CAF_CHECK_EQUAL(letters(),
                  (lines{"user: one\nassistant: you said one",
                         "user: two\nassistant: you said two\nuser: three\nassistant: you said three"}));
}

CAF_TEST(a trigger that is cancelled before its run begins is told with the next) {
  sleeper_limits.pause = 3ms;
  crash();
  auto bob = make_agent({});
  send(bob, "think about it");
  auto first = talk("one"), second = talk("two");
  CAF_REQUIRE(commit([&](storage::transaction& t) { return storage::cancel_run(t, first[0], env); }));
  for (int i = 0; i < 40; ++i) pass(3ms);
  CAF_REQUIRE(call_of(companion()));
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK_EQUAL(letters(),
                  (lines{"user: one\nassistant: you said one\nuser: two\nassistant: you said two"}));
  CAF_CHECK(row(first[0]).status == run_status::cancelled);
  CAF_CHECK(row(second[0]).status == run_status::completed);
}

CAF_TEST(its timers do not pile up) {
  sleeper_limits.pause = 3ms;
  sleeper_limits.most = 100;
  crash();
  for (int i = 0; i < 20; ++i) { // each a job of its own, that waits for a pause
    auto c = make_conversation(ada);
    send(ada, text_request("inside"), mode::blocking, c);
    settle();
    reply_to(ada, text_reply("in there"));
    for (int n = 0; n < 3; ++n) pass(3ms);
  }
  for (int n = 0; n < 12; ++n) pass(250ms);
  CAF_CHECK(call_of(companion())); // it is at work, and looked after
  CAF_CHECK(sched.clock().schedule().size() <= 3);
}

CAF_TEST(conversations are told apart) {
  auto c = make_conversation(ada);
  auto inside = send(ada, text_request("inside"), mode::blocking, c);
  settle();
  reply_to(ada, text_reply("in there"));
  reply_to(companion(), text_reply("noted"));
  talk("outside");
  reply_to(companion(), text_reply("noted"));
  CAF_CHECK_EQUAL(letters(),
                  (lines{"user: inside\nassistant: in there", "user: outside\nassistant: you said outside"}));
  CAF_CHECK_EQUAL(storage::jobs_of_group(*snapshot(), pair().id).size(), 2u);
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    storage::erase_conversation(t, *storage::find_conversation(t, c));
    return {};
  }));
  CAF_CHECK_EQUAL(storage::jobs_of_group(*snapshot(), pair().id).size(), 1u);
  CAF_CHECK(storage::check(*snapshot()).problems.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
