// Runs of groups as state machines: who is asked what, who hears what, how a run ends (reference: groups §2, §7.5).
#define CAF_SUITE group_runs
#include "tests/unit/group_stage.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using group_run::assignment;
using group_run::outcome;
using group_run::task;

CAF_TEST(in a round everybody hears what was said before) {
  group_stage s(manager_type::round_robin, 4);
  CAF_CHECK_EQUAL(s.send("hi"), "log user: hi\n"
                                "speak a <- user(hi)\nlog a: a1\n"
                                "speak b <- user(hi) a(a1)\nlog b: b1\n"
                                "speak c <- user(hi) a(a1) b(b1)\nlog c: c1\n"
                                "speak d <- user(hi) a(a1) b(b1) c(c1)\nlog d: d1\n"
                                "end end_turn, steps 4\n");
}

CAF_TEST(the end of a round is not told twice and not lost) {
  group_stage s(manager_type::round_robin, 2);
  s.send("one");
  CAF_CHECK_EQUAL(s.send("two"), "log user: two\n"
                                 "speak a <- user(two)\nlog a: a2\n"
                                 "speak b <- user(two) a(a2)\nlog b: b2\n"
                                 "end end_turn, steps 2\n");
}

CAF_TEST(max_turns) {
  group_stage s(manager_type::round_robin, 2);
  s.settings().max_turns = 3;
  CAF_CHECK_EQUAL(s.send("hi"), "log user: hi\n"
                                "speak a <- user(hi)\nlog a: a1\n"
                                "speak b <- user(hi) a(a1)\nlog b: b1\n"
                                "speak a <- b(b1)\nlog a: a2\n"
                                "end end_turn, steps 3\n");
  s.settings().max_turns = 0;
  CAF_CHECK_EQUAL(s.send("none"), "log user: none\nend end_turn, steps 0\n");
}

CAF_TEST(a token a budget and silence end a run) {
  group_stage token(manager_type::round_robin, 3);
  token.settings().termination_token = "b1";
  CAF_CHECK_EQUAL(token.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog a: a1\n"
                                    "speak b <- user(hi) a(a1)\nlog b: b1\nend end_turn, steps 2\n");
  group_stage budget(manager_type::round_robin, 3);
  budget.settings().options.token_budget = 10;
  CAF_CHECK_EQUAL(budget.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog a: a1\nend end_turn, steps 1\n");
  group_stage quiet(manager_type::round_robin, 3);
  quiet.settings().options.quiet_rounds = 2;
  quiet.act = [](auto&, auto&, outcome&) {};
  CAF_CHECK_EQUAL(quiet.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog system: a said nothing.\n"
                                    "speak b <- user(hi) system(a said nothing.)\n"
                                    "log system: b said nothing.\nend end_turn, steps 2\n");
}

CAF_TEST(what a failure does is for the group to say) {
  auto fails = [](const std::string& who, const assignment& asked, outcome& o) {
    if (who == "b" && asked.what.attempt == 0)
      o.failure = "no model";
    else
      o.said.push_back(group_stage::words(who));
    o.heard = !o.failure;
  };
  group_stage abort(manager_type::round_robin, 3);
  abort.act = fails;
  CAF_CHECK_EQUAL(abort.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog a: a\nspeak b <- user(hi) a(a)\n"
                                    "end failed: b: no model, steps 1\n");
  group_stage skip(manager_type::round_robin, 3);
  skip.act = fails;
  skip.settings().options.on_member_error_ = on_member_error::skip;
  CAF_CHECK_EQUAL(skip.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog a: a\nspeak b <- user(hi) a(a)\n"
                                   "log system: b could not answer.\n"
                                   "speak c <- user(hi) a(a) system(b could not answer.)\nlog c: c\n"
                                   "end end_turn, steps 2\n");
  group_stage retry(manager_type::round_robin, 2);
  retry.act = fails;
  retry.settings().options.on_member_error_ = on_member_error::retry;
  CAF_CHECK_EQUAL(retry.send("hi"), "log user: hi\nspeak a <- user(hi)\nlog a: a\nspeak b <- user(hi) a(a)\n"
                                    "speak b <- user(hi) a(a)\nlog b: b\nend end_turn, steps 2\n");
}

CAF_TEST(an empty group cannot speak) {
  group_stage s(manager_type::round_robin, 0);
  CAF_CHECK_EQUAL(s.send("hi"), "log user: hi\nend failed: Empty group, steps 0\n");
}

// -- dynamic --------------------------------------------------------------------------------------
CAF_TEST(the manager names who speaks) {
  group_stage s(manager_type::dynamic, 2, true);
  int asked = 0;
  s.act = [&](const std::string& who, const assignment& a, outcome& o) {
    if (a.what.what == task::choose)
      o.calls.push_back(group_stage::call(
          "choose_next_participant",
          ++asked == 3 ? R"({"agent_id":"","done":true})"
                       : R"({"agent_id":")" + s.id(asked == 1 ? "b" : "a").str() + R"(","reason":"knows"})"));
    else
      o.said.push_back(group_stage::words(who));
  };
  s.settings().max_turns = 9;
  auto played = s.send("hi");
  CAF_CHECK(played.find("speak b <- user(hi)\nlog b: b\n") != std::string::npos);
  CAF_CHECK(played.find("speak a <- user(hi) b(b)\nlog a: a\n") != std::string::npos);
  CAF_CHECK(played.find("end end_turn, steps 5\n") != std::string::npos);
  CAF_CHECK_EQUAL(s.state().past[1].why, "knows");
}

CAF_TEST(a choice in words is understood and a bad one is asked for again) {
  struct {
    const char *first, *second, *spoke;
  } cases[] = {
      {"I think b should go.", "", "b"}, // a name among words
      {"b and a", "a", "a"},             // two names: asked again
      {"whoever", "nobody", "a"},        // twice nobody: next in order
      {"abba", "B", "b"},                // part of a word is no name; another case is
  };
  for (auto& c : cases) {
    group_stage s(manager_type::dynamic, 2, true);
    s.settings().max_turns = 1;
    int asked = 0;
    s.act = [&](const std::string& who, const assignment& a, outcome& o) {
      if (a.what.what == task::choose)
        o.said.push_back(group_stage::words(++asked == 1 ? c.first : c.second));
      else
        o.said.push_back(group_stage::words(who));
    };
    auto played = s.send("hi");
    CAF_CHECK(played.find("log " + std::string(c.spoke) + ": " + c.spoke) != std::string::npos);
  }
}

CAF_TEST(the token of a dynamic group ends it) {
  group_stage s(manager_type::dynamic, 2, true);
  s.act = [&](const std::string& who, const assignment& a, outcome& o) {
    if (a.what.what == task::choose)
      o.said.push_back(group_stage::words("a"));
    else
      o.said.push_back(group_stage::words(who + " DONE!"));
  };
  auto played = s.send("hi");
  CAF_CHECK(played.find("end end_turn, steps 2\n") != std::string::npos);
}

// -- swarm ----------------------------------------------------------------------------------------
CAF_TEST(who has the word hands it on) {
  group_stage s(manager_type::swarm, 3);
  s.act = [&](const std::string& who, const assignment&, outcome& o) {
    if (who == "a")
      o.calls.push_back(
          group_stage::call("hand_off", R"({"agent_id":")" + s.id("c").str() + R"(","reason":"sums"})"));
    else
      o.said.push_back(group_stage::words("I am " + who));
  };
  CAF_CHECK_EQUAL(s.send("hi"), "log user: hi\nspeak a <- user(hi)\nspeak c <- user(hi)\nlog c: I am c\n"
                                "end end_turn, steps 2\n");
  CAF_CHECK_EQUAL(s.state().past[1].why, "handed off: sums");
}

CAF_TEST(handing on has an end) {
  group_stage s(manager_type::swarm, 2);
  s.act = [&](const std::string& who, const assignment&, outcome& o) {
    o.calls.push_back(
        group_stage::call("hand_off", R"({"agent_id":")" + s.id(who == "a" ? "b" : "a").str() + R"("})"));
  };
  s.send("hi");
  CAF_CHECK_EQUAL(s.end, "end_turn");
  CAF_CHECK_EQUAL(s.model_calls(), 4u);
}

// -- supervisor -----------------------------------------------------------------------------------
namespace {

// The manager asks everybody once, then answers.
auto supervised(group_stage& s, std::string failing = {}) {
  return [&s, failing](const std::string& who, const assignment& a, outcome& o) {
    bool returned = std::holds_alternative<approval_create>(a.messages.front());
    if (a.what.what == task::reply && who == failing)
      o.failure = "no model";
    else if (a.what.what == task::reply)
      o.said.push_back(group_stage::words("yes, " + who));
    else if (returned)
      o.said.push_back(group_stage::words("all said yes"));
    else {
      o.calls.push_back(group_stage::call("send_message_to_all_agents_in_group", R"({"message":"ready?"})"));
      o.waits = true;
    }
  };
}

} // namespace

CAF_TEST(a supervisor gathers in the order of its members) {
  group_stage s(manager_type::supervisor, 2, true);
  s.act = supervised(s, "a");
  auto played = s.send("hi");
  auto a = s.id("a").str(), b = s.id("b").str();
  CAF_CHECK(played.find("manage boss <- user(hi)\nlog boss: ready?\n") != std::string::npos);
  CAF_CHECK(played.find("returns(['" + a + " could not answer: no model', \"" + b + " said: 'yes, b'\"])") !=
            std::string::npos);
  CAF_CHECK(played.find("log boss: all said yes\nend end_turn, steps 2\n") != std::string::npos);
}

// -- crashes and cancel ---------------------------------------------------------------------------
CAF_TEST(a run that is made anew after every step is the same run) {
  auto played = [](manager_type type, bool crashes) {
    bool with_manager = leads(type);
    group_stage s(type, 3, with_manager);
    s.crashes = crashes;
    if (type == manager_type::supervisor) s.act = supervised(s, "b");
    if (type == manager_type::dynamic)
      s.act = [](const std::string& who, const assignment& a, outcome& o) {
        o.said.push_back(group_stage::words(a.what.what == task::choose ? "c" : who + " speaks"));
      };
    return s.send("one") + s.send("two");
  };
  for (auto type :
       {manager_type::round_robin, manager_type::supervisor, manager_type::dynamic, manager_type::swarm})
    CAF_CHECK_EQUAL(played(type, true), played(type, false));
}

CAF_TEST(a run can be cancelled at every turn) {
  for (auto type :
       {manager_type::round_robin, manager_type::supervisor, manager_type::dynamic, manager_type::swarm})
    for (std::size_t after = 0; after < 3; ++after) {
      group_stage s(type, 3, leads(type));
      if (type == manager_type::supervisor) s.act = supervised(s);
      if (type == manager_type::swarm)
        s.act = [&](const std::string& who, const assignment&, outcome& o) {
          o.calls.push_back(group_stage::call("hand_off", R"({"agent_id":")" +
                                                              s.id(who == "a" ? "b" : "a").str() + R"("})"));
        };
      s.cancel_after = after;
      s.send("hi");
      CAF_CHECK_EQUAL(s.end, "cancelled");
    }
}
