// Listings: pages by cursors in both directions, filters, indexes that follow their records (reference: resources §1.8).
#define CAF_SUITE store_listings
#include "core/base/text.hpp"
#include "tests/unit/agent_store.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::storage;
using namespace troupe::test;

// Queries are written down by the members that count.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

struct fixture : agent_store {
  std::string names(const agent_query& q) {
    std::string out;
    for (auto& a : list_agents(*snapshot(), org, q)) out += a.name.substr(6);
    return out;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(listing_tests, fixture)

CAF_TEST(agents are listed by cursors in both directions) {
  for (std::uint64_t n = 1; n <= 5; ++n) make(n);
  auto id = [](std::uint64_t n) { return std::optional(nth<agent_id>(n)); };
  auto up = sort_order::asc, down = sort_order::desc;
  struct {
    agent_query q;
    const char* names;
  } rows[] = {
      {{}, "54321"},
      {{.order = up}, "12345"},
      {{.limit = 2}, "54"},
      {{.limit = 2, .after = id(4)}, "32"},
      {{.order = down, .after = id(1)}, ""},
      {{.order = up, .after = id(3)}, "45"},
      {{.order = up, .before = id(3)}, "12"},
      {{.order = down, .before = id(3)}, "54"},
      {{.order = up, .after = id(1), .before = id(4)}, "23"},
      {{.order = down, .after = id(4), .before = id(1)}, "32"},
      {{.after = id(99)}, "54321"}, // unknown ones are passed over
      {{.limit = 0}, "54321"},
  };
  for (auto& r : rows) CAF_CHECK_EQUAL(names(r.q), r.names);
  // Page after page gives each exactly once.
  std::string all;
  agent_query q{.limit = 2};
  for (;;) {
    auto page = list_agents(*snapshot(), org, q);
    if (page.empty()) break;
    for (auto& a : page) all += a.name.substr(6);
    q.after = page.back().id;
  }
  CAF_CHECK_EQUAL(all, "54321");
  CAF_CHECK(list_agents(*snapshot(), nth<org_id>(7), {}).empty());
}

CAF_TEST(agents made at the same moment keep an order) {
  for (std::uint64_t n = 1; n <= 4; ++n) make(n, [&](agent& a) { a.created_at = env.time; });
  CAF_CHECK_EQUAL(names({.order = sort_order::asc}), "1234");
  CAF_CHECK_EQUAL(names({.order = sort_order::asc, .after = nth<agent_id>(2)}), "34");
  CAF_CHECK_EQUAL(names({.order = sort_order::desc, .after = nth<agent_id>(2)}), "1");
}

CAF_TEST(filters of agents) {
  make(1, [](agent& a) { a.tags = {"x", "y"}, a.project_id = "p"; });
  make(2, [](agent& a) { a.tags = {"y"}, a.hidden = true; });
  make(3, [](agent& a) { a.tags = {"xy"}, a.template_id = "t", a.base_template_id = "b"; });
  make(4, [](agent& a) { a.created_by_id = nth<user_id>(9); });
  CAF_REQUIRE(write([&](transaction& t) {
    auto activity = activity_of(t, nth<agent_id>(3));
    activity.last_stop_reason = stop_reason::cancelled;
    activity.last_run_completion = env.time;
    put_activity(t, nth<agent_id>(3), activity);
  }));
  struct {
    agent_query q;
    const char* names;
  } rows[] = {
      {{}, "431"},
      {{.show_hidden = true}, "4321"},
      {{.name = "agent 3"}, "3"},
      {{.name = "agent"}, ""},
      {{.query_text = "AGENT"}, "431"},
      {{.query_text = "nt 4"}, "4"},
      {{.project_id = "p"}, "1"},
      {{.template_id = "t"}, "3"},
      {{.base_template_id = "b"}, "3"},
      {{.created_by_id = nth<user_id>(9).str()}, "4"},
      {{.last_stop_reason = stop_reason::cancelled}, "3"},
      {{.tags = {"x"}}, "1"},
      {{.tags = {"y"}, .show_hidden = true}, "21"},
      {{.tags = {"x", "xy"}}, "31"},
      {{.tags = {"x", "y"}, .match_all_tags = true}, "1"},
      {{.tags = {"x", "nobody"}, .match_all_tags = true}, ""},
      {{.by = agent_order::last_run_completion}, "341"}, // those without a value come last
      {{.order = sort_order::asc, .by = agent_order::last_run_completion}, "314"},
  };
  for (auto& r : rows) {
    CAF_CHECK_EQUAL(names(r.q), r.names);
    if (r.q.by == agent_order::created_at)
      CAF_CHECK_EQUAL(count_agents(*snapshot(), org, r.q), std::string_view(r.names).size());
  }
  auto tags = [&](const tag_query& q) { return text::join(list_tags(*snapshot(), org, q), ","); };
  CAF_CHECK_EQUAL(tags({}), "x,xy,y");
  CAF_CHECK_EQUAL(tags({.order = sort_order::desc}), "y,xy,x");
  CAF_CHECK_EQUAL(tags({.limit = 1, .after = "x"}), "xy");
  CAF_CHECK_EQUAL(tags({.part = "X"}), "x,xy");
}

CAF_TEST(changes of an agent reach its indexes) {
  auto a = make(1, [](agent& x) { x.tags = {"old", "kept"}; });
  auto changed = a;
  changed.name = "agent Z";
  changed.tags = {"kept", "new"};
  CAF_REQUIRE(write([&](transaction& t) { put_agent(t, changed, &a); }));
  CAF_CHECK_EQUAL(names({.name = "agent 1"}), "");
  CAF_CHECK_EQUAL(names({.name = "agent Z"}), "Z");
  CAF_CHECK_EQUAL(names({.tags = {"old"}}) + names({.tags = {"new"}}) + names({.tags = {"kept"}}), "ZZ");
}

CAF_TEST(runs by cursors) {
  auto a = make(1);
  for (std::uint64_t n = 1; n <= 4; ++n) begin(a, n);
  auto ids = [&](const run_query& q) {
    std::string out;
    for (auto& row : list_runs(*snapshot(), org, q)) out += std::to_string(row.created_at.us - env.time.us);
    return out;
  };
  auto id = [](std::uint64_t n) { return std::optional(nth<run_id>(n)); };
  CAF_CHECK_EQUAL(ids({}), "4321");
  CAF_CHECK_EQUAL(ids({.before = id(3)}), "21"); // with the newest first, before is older
  CAF_CHECK_EQUAL(ids({.after = id(3)}), "4");
  CAF_CHECK_EQUAL(ids({.limit = 1, .order = sort_order::asc}), "1");
  CAF_CHECK_EQUAL(ids({.agents = {a.id}, .statuses = {run_status::created}}), "4321");
  CAF_CHECK_EQUAL(ids({.statuses = {run_status::failed}}), "");
  // Those that go on come from an index of their own, and as the others.
  auto ended = *find_run(*snapshot(), *id(2));
  ended.status = run_status::completed;
  CAF_REQUIRE(write([&](transaction& t) { put_run(t, ended); }));
  std::vector<run_status> active{run_status::created, run_status::running};
  CAF_CHECK_EQUAL(ids({.statuses = active}), "431");
  CAF_CHECK_EQUAL(ids({.order = sort_order::asc, .statuses = active}), "134");
  CAF_CHECK_EQUAL(ids({.limit = 2, .statuses = active}), "43");
  CAF_CHECK_EQUAL(ids({.before = id(4), .statuses = active}), "31");
  CAF_CHECK_EQUAL(ids({.after = id(1), .statuses = active}), "43");
  CAF_CHECK_EQUAL(ids({.after = id(2), .statuses = active}), "43"); // a cursor may have ended
  CAF_CHECK_EQUAL(ids({.order = sort_order::asc, .before = id(4), .after = id(1), .statuses = active}), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
