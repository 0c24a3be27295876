// A test of agents from inside: a panel of three that argue, one of them too slow, in virtual time. Hours pass in
// milliseconds, and every run of the test is the same.
#define CAF_SUITE panel
#include "testing/house.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr std::string_view script = R"({
  "scenes": [
    {"system": "I am the optimist", "replies": [{"say": [{"text": "{{text}} Certainly."}]}]},
    {"system": "I am the sceptic", "heard": "^optimist: (.+)$",
     "replies": [{"say": [{"text": "\"{{1}}\" is what optimists say."}]}]},
    {"system": "I am the sleeper", "replies": [{"say": [{"delay_ms": 3600000}, {"text": "What did you say?"}]}]}
  ],
  "otherwise": {"say": [{"text": "I have nothing to say."}]}
})";

struct panel : house {
  panel() { rehearse(script); }

  agent_id member(const std::string& name) {
    return make_agent({.name = name, .persona = "I am the " + name});
  }
  run_status status(const sent_turn& t) const { return row(t.id).status; }

  agent_id optimist = member("optimist"), sceptic = member("sceptic"), sleeper_agent = member("sleeper");
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(panel_tests, panel)

CAF_TEST(everybody hears everybody) {
  auto group = make_group(manager_type::round_robin, {optimist, sceptic});
  auto run = tell(group, "It will work.");
  settle();
  CAF_CHECK(status(run) == run_status::completed);
  CAF_CHECK_EQUAL(said_in(group), (lines{"user: It will work.", "optimist: It will work. Certainly.",
                                         "sceptic: \"It will work. Certainly.\" is what optimists say."}));
}

CAF_TEST(who sleeps too long is passed over) {
  group_options options;
  options.member_deadline_s = 600;
  options.on_member_error_ = on_member_error::skip;
  auto group = make_group(manager_type::round_robin, {sleeper_agent, optimist}, std::nullopt, options);
  auto run = tell(group, "It will work.");
  pass(595s);
  CAF_CHECK_EQUAL(said_in(group).size(), 1u);
  pass(10s);
  CAF_CHECK(status(run) == run_status::completed);
  auto said = said_in(group);
  CAF_CHECK_EQUAL(said.back(), "optimist: It will work. Certainly.");
}

CAF_TEST(who has all the time of the world is waited for) {
  limits.model_timeout = 2h;
  crash(); // the limits are read at the start
  auto group = make_group(manager_type::round_robin, {sleeper_agent});
  auto run = tell(group, "Hello?");
  pass(61min);
  CAF_CHECK(status(run) == run_status::completed);
  auto said = said_in(group);
  CAF_CHECK_EQUAL(said.back(), "sleeper: What did you say?");
}

CAF_TEST(a crash changes nothing whenever it comes) {
  auto group = make_group(manager_type::round_robin, {optimist, sceptic});
  for (int messages = 0; messages < 40; ++messages) {
    auto before = said_in(group).size();
    auto run = tell(group, "It will work.", mode::async);
    for (int i = 0; i < messages; ++i) run_one_of(0);
    crash();
    settle();
    if (!storage::find_run(*snapshot(), run.id)) continue; // nobody was told that it would happen
    CAF_CHECK(status(run) == run_status::completed);
    CAF_CHECK_EQUAL(said_in(group).size(), before + 3);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
