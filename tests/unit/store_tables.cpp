// What the tables hold together: histories and contexts, edits with versions, deletions.
#define CAF_SUITE store_tables
#include "storage/conversations.hpp"
#include "storage/tool_searches.hpp"
#include "storage/tools.hpp"
#include "storage/turns.hpp"
#include "tests/unit/agent_store.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::storage;
using namespace troupe::test;

// Queries are written down by the members that count.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

CAF_TEST_FIXTURE_SCOPE(table_tests, agent_store)

CAF_TEST(histories and contexts) {
  auto a = make(1), b = make(2);
  context_key mine{a.id, std::nullopt};
  auto append = [&](const agent& to, std::uint64_t n, const context_key* c) {
    CAF_REQUIRE(write([&](transaction& t) { append_messages(t, {message_of(to, n)}, c); }));
  };
  for (std::uint64_t n = 1; n <= 4; ++n) {
    append(a, n, n == 3 ? nullptr : &mine); // the third is not in context
    append(b, 10 + n, nullptr);
  }
  auto r = snapshot();
  CAF_CHECK_EQUAL(texts(context_messages(*r, mine)), "be good,text 1,text 2,text 4");
  CAF_CHECK_EQUAL(texts(history(*r, a.id, {})), "be good,text 1,text 2,text 3,text 4");
  auto place = [&](std::uint64_t n) { return find_message_place(*r, nth<message_id>(n))->sequence; };
  CAF_CHECK(place(1) < place(11) && place(11) < place(2)); // one sequence for all
  struct {
    history_query q;
    const char* texts;
  } rows[] = {
      {{.limit = 2}, "text 3,text 4"}, // the newest ones, oldest first
      {{.limit = 2, .newest_first = false}, "be good,text 1"},
      {{.before = place(2)}, "be good,text 1"},
      {{.after = place(2)}, "text 3,text 4"},
      {{.limit = 1, .newest_first = false, .after = place(1)}, "text 2"},
      {{.limit = 1, .newest_first = true, .before = place(3)}, "text 2"},
      {{.before = place(4), .after = place(2)}, "text 3"},
      {{.limit = 0}, ""},
  };
  for (auto& row : rows) CAF_CHECK_EQUAL(texts(history(*r, a.id, row.q)), row.texts);
  CAF_CHECK_EQUAL(texts(org_history(*r, org, {.limit = 3})), "text 13,text 4,text 14");
  CAF_CHECK(org_history(*r, nth<org_id>(7), {}).empty());
  CAF_CHECK_EQUAL(texts(search_history(*r, a.id, {.text = "TEXT", .limit = 2}).messages), "text 4,text 3");
  CAF_CHECK(search_history(*r, a.id, {.text = "good"}).messages.empty()); // never the system's
  CAF_REQUIRE(write([&](transaction& t) { clear_context(t, mine); }));
  append(a, 5, &mine);
  CAF_CHECK_EQUAL(texts(context_messages(*snapshot(), mine)), "be good,text 5");
  CAF_REQUIRE(write([&](transaction& t) { replace_context(t, mine, {{0, nth<message_id>(2), place(2)}}); }));
  CAF_CHECK_EQUAL(texts(context_messages(*snapshot(), mine)), "text 2");
  CAF_CHECK_EQUAL(texts(history(*snapshot(), a.id, {})), "be good,text 1,text 2,text 3,text 4,text 5");
}

CAF_TEST(what is appended while a summary is made stays in the context) {
  auto a = make(1);
  context_key mine{a.id, std::nullopt};
  auto append = [&](std::uint64_t n) {
    CAF_REQUIRE(write([&](transaction& t) { append_messages(t, {message_of(a, n)}, &mine); }));
  };
  for (std::uint64_t n = 1; n <= 3; ++n) append(n);
  turn::step_commit summed_up;
  summed_up.agent = a.id;
  summed_up.rewrite.emplace();
  summed_up.rewrite->summary = message_of(a, 9);
  summed_up.rewrite->dropped = {nth<message_id>(1), nth<message_id>(2)};
  append(4); // by the end of a group's run
  CAF_REQUIRE(write([&](transaction& t) { must(apply_compaction(t, summed_up, env)); }));
  CAF_CHECK_EQUAL(texts(context_messages(*snapshot(), mine)), "be good,text 9,text 3,text 4");
}

CAF_TEST(edits of blocks need the version that they were made on) {
  auto shared = owned("notes", "one"), other = owned("plan", "p");
  auto a = make(1, {}, {shared, other});
  make(2, [&](agent& x) { x.block_ids = {shared.id}; });
  using kind = tools::memory_edit::kind;
  auto edit = [&](std::vector<tools::memory_edit> edits) {
    return write([&](transaction& t) -> result<void> {
      auto done = apply_edits(t, a.id, std::nullopt, edits, env);
      return done ? result<void>{} : done.error();
    });
  };
  auto value = [&] { return find_block(*snapshot(), shared.id)->value; };
  CAF_CHECK(edit({{kind::value, shared.id, 1, "two", {}}, {kind::value, shared.id, 2, "three", {}}}));
  CAF_CHECK_EQUAL(value(), "three");
  CAF_CHECK_EQUAL(block_now(shared.id).version, 3);
  // Stale: nothing at all changes, also not the good edit before.
  auto stale = edit({{kind::value, other.id, 1, "q", {}}, {kind::value, shared.id, 1, "late", {}}});
  CAF_REQUIRE(!stale);
  CAF_CHECK(stale.error().code == errc::conflict);
  CAF_CHECK_EQUAL(value(), "three");
  CAF_CHECK_EQUAL(block_now(other.id).value, "p");
  // A label that is taken in any agent of the block; a block that is no longer attached.
  CAF_CHECK(!edit({{kind::rename, shared.id, 3, "plan", {}}}));
  CAF_CHECK(edit({{kind::rename, shared.id, 3, "lines", {}}, {kind::describe, shared.id, 4, "all", {}}}));
  CAF_CHECK_EQUAL(find_block(*snapshot(), shared.id)->description.value_or(""), "all");
  CAF_CHECK(edit({{kind::detach, other.id, 1, {}, {}}}));
  CAF_CHECK(find_block(*snapshot(), other.id).has_value()); // the row survives
  CAF_CHECK(!edit({{kind::value, other.id, 1, "q", {}}}));
  auto fresh = owned("fresh", "f");
  CAF_CHECK(edit({{kind::create, fresh.id, 0, {}, fresh}, {kind::value, fresh.id, 1, "ff", {}}}));
  CAF_CHECK(!edit({{kind::create, nth<block_id>(900), 0, {}, owned("lines", "")}}));
  CAF_CHECK_EQUAL(block_now(fresh.id).value, "ff");
  CAF_CHECK(agents_of_block(*snapshot(), fresh.id) == std::vector{a.id});
  CAF_CHECK(agents_of_block(*snapshot(), other.id).empty());
}

CAF_TEST(a step is stored wholly) {
  auto notes = owned("notes", "one");
  auto a = make(1, {}, {notes});
  auto row = begin(a, 1);
  auto step_of = [&] {
    turn::step_commit s;
    s.agent = a.id;
    s.run = row.id;
    s.started = true;
    s.messages = {message_of(a, 1), message_of(a, 2, message_role::assistant)};
    s.step_.emplace();
    s.step_->id = nth<step_id>(1);
    s.step_->organization_id = org;
    s.edits = {{tools::memory_edit::kind::value, notes.id, 1, "two", {}}};
    s.tools_used = {nth<tool_id>(1), nth<tool_id>(1)};
    return s;
  };
  auto apply = [&](const turn::step_commit& s) {
    return write([&](transaction& t) { return apply_step(t, s, env); });
  };
#ifdef TROUPE_FAULTS
  // Every write of the batch may fail: nothing of it is there then.
  for (int n = 1;; ++n) {
    faults::set_handler([left = std::make_shared<int>(n)](std::string_view point) {
      return point == "store.put" && --*left == 0 ? faults::kind::disk_full : faults::kind::none;
    });
    auto done = apply(step_of());
    faults::set_handler({});
    if (done) {
      CAF_CHECK(n > 8); // the batch has so many writes at the least
      break;
    }
    CAF_CHECK(done.error().code == errc::storage_full);
    CAF_CHECK_EQUAL(texts(history(*snapshot(), a.id, {})), "be good");
    CAF_CHECK_EQUAL(block_now(notes.id).value, "one");
    CAF_CHECK(find_run(*snapshot(), row.id)->status == run_status::created);
    CAF_CHECK(!find_step(*snapshot(), nth<step_id>(1)));
  }
#else
  CAF_REQUIRE(apply(step_of()));
#endif
  auto stored = *find_run(*snapshot(), row.id);
  CAF_CHECK(stored.status == run_status::running && stored.steps.size() == 1 &&
            stored.tools_used.size() == 1);
  CAF_CHECK_EQUAL(stored.last_sequence, stored.first_sequence + 1);
  CAF_CHECK_EQUAL(block_now(notes.id).value, "two");
  CAF_CHECK_EQUAL(activity_of(*snapshot(), a.id).message_count, 3);
  auto system = text_of(*context_messages(*snapshot(), {a.id, std::nullopt}).front());
  CAF_CHECK(system.find("<value>\ntwo\n</value>") != std::string::npos); // the prompt follows the block
  // The block has moved on: the same edit again is a conflict and leaves no messages.
  auto again = apply(step_of());
  CAF_CHECK(!again && again.error().code == errc::conflict);
  CAF_CHECK_EQUAL(history(*snapshot(), a.id, {}).size(), 3u);
  // The end; a run that has ended takes nothing more.
  turn::step_commit end;
  end.agent = a.id;
  end.run = row.id;
  end.end.emplace();
  end.end->reason = stop_reason::end_turn;
  end.last_stop_reason = stop_reason::end_turn;
  CAF_CHECK(apply(end));
  CAF_CHECK(find_run(*snapshot(), row.id)->completed_at.has_value());
  CAF_CHECK(active_runs(*snapshot()).empty());
  CAF_CHECK(activity_of(*snapshot(), a.id).last_stop_reason == stop_reason::end_turn);
  auto late = apply(end);
  CAF_CHECK(!late && late.error().code == errc::cancelled);
  end.agent = nth<agent_id>(99);
  CAF_CHECK(apply(end).error().code == errc::not_found);
}

CAF_TEST(deleting an agent takes everything that is its own) {
  auto notes = owned("notes", "one");
  auto a = make(1, [](agent& x) { x.tags = {"t"}; }, {notes});
  auto b = make(2, [&](agent& x) { x.block_ids = {notes.id}; });
  auto row = begin(a, 1), kept = begin(b, 2);
  conversation c;
  c.id = nth<conversation_id>(1);
  c.agent = a.id;
  c.organization_id = org;
  CAF_REQUIRE(write([&](transaction& t) {
    storage::create_conversation(t, c, message_of(a, 20, message_role::system));
    context_key context{a.id, std::nullopt};
    append_messages(t, {message_of(a, 21)}, &context);
    step s;
    s.id = nth<step_id>(1);
    s.organization_id = org;
    create_step(t, s);
    row.steps = {s.id};
    put_run(t, row);
  }));
  CAF_REQUIRE(write([&](transaction& t) { erase_agent(t, *find_agent(t, a.id)); }));
  auto r = snapshot();
  CAF_CHECK(!find_agent(*r, a.id) && !find_run(*r, row.id) && !find_step(*r, nth<step_id>(1)) &&
            !find_conversation(*r, c.id));
  CAF_CHECK(!find_message(*r, nth<message_id>(20)) && !find_message(*r, nth<message_id>(21)));
  CAF_CHECK(find_block(*r, notes.id) && find_agent(*r, b.id) && find_run(*r, kept.id));
  CAF_CHECK(agents_of_block(*r, notes.id) == std::vector{b.id});
  // No key anywhere names it.
  std::size_t left = 0;
  r->scan(std::string_view("\0", 1), "", reader::direction::forward, [&](auto k, auto v) {
    for (auto& part : {a.id.value, c.id.value, row.id.value})
      left += k.find(part.view()) != std::string_view::npos;
    left += v.find(a.id.value.view()) != std::string_view::npos;
    return true;
  });
  CAF_CHECK_EQUAL(left, 0u);
  CAF_CHECK(check(*r).problems.empty());
  CAF_CHECK_EQUAL(check(*r).agents, 1u);
}

CAF_TEST(after a crash no run stays running and no call open) {
  auto a = make(1);
  auto row = begin(a, 1);
  auto m = *message_of(a, 5, message_role::assistant);
  m.run = row.id;
  m.tool_calls = {{"c1", "f", "{}"}, {"c2", "g", "{}"}};
  CAF_REQUIRE(write([&](transaction& t) {
    context_key context{a.id, std::nullopt};
    append_messages(t, {std::make_shared<const message>(m)}, &context);
  }));
  open();
  auto n = recover(*db, env);
  CAF_REQUIRE(n);
  CAF_CHECK_EQUAL(*n, 1u);
  auto stored = *find_run(*snapshot(), row.id);
  CAF_CHECK(stored.status == run_status::failed && stored.metadata.contains("error"));
  auto last = context_messages(*snapshot(), {a.id, std::nullopt}).back();
  CAF_CHECK(last->role == message_role::tool && last->tool_returns.size() == 2);
  CAF_CHECK_EQUAL(last->tool_returns.at(1).tool_call_id.value_or(""), "c2");
  CAF_CHECK_EQUAL(*recover(*db, env), 0u); // once
}

CAF_TEST(defaults are made once) {
  auto tools_before = list_tools(
      *snapshot(), org, {.pages = {.limit = 0, .order = sort_order::asc, .after = {}, .before = {}}});
  CAF_CHECK(tools_before.size() > 20);
  open();
  CAF_REQUIRE(prepare_defaults(*db, env));
  auto after = list_tools(*snapshot(), org,
                          {.pages = {.limit = 0, .order = sort_order::asc, .after = {}, .before = {}}});
  CAF_REQUIRE_EQUAL(after.size(), tools_before.size());
  CAF_CHECK(after.front().id == tools_before.front().id);
}

CAF_TEST_FIXTURE_SCOPE_END()
