// Groups: what requests may hold, the rules of making and changing one, who belongs to it, companions, messages.
#define CAF_SUITE groups
#include "storage/groups.hpp"

#include "core/schema/group.hpp"
#include "storage/companions.hpp"
#include "storage/conversations.hpp"
#include "tests/unit/agent_store.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::storage;
using namespace troupe::test;

namespace {

using new_group = troupe::create_group; // storage has functions of these names
using group_change = troupe::update_group;

const std::string ada = nth<agent_id>(1).str(), bob = nth<agent_id>(2).str();

new_group round_of(std::vector<agent_id> members) {
  new_group q;
  q.agent_ids = std::move(members);
  q.description = "a group";
  return q;
}

// The same with the nth agent as manager.
new_group managed(manager_type type, std::uint64_t n, std::vector<agent_id> members) {
  auto q = round_of(std::move(members));
  q.manager_config_.manager_type_ = type;
  q.manager_config_.manager_agent_id = {true, nth<agent_id>(n)};
  return q;
}

struct group_store : agent_store {
  group make_group(const new_group& q) {
    auto g = *troupe::make_group(q, org, env);
    g.block_ids = q.shared_block_ids;
    must(write([&](transaction& t) { return storage::create_group(t, g); }));
    return g;
  }
  errc refused(const new_group& q) {
    auto g = troupe::make_group(q, org, env);
    if (!g) return g.error().code;
    auto done = write([&](transaction& t) { return storage::create_group(t, *g); });
    return done ? errc{} : done.error().code;
  }
  agent main(std::uint64_t n, std::function<void(agent&)> change = {}, std::vector<block> blocks = {}) {
    auto a = make(n, change, std::move(blocks));
    must(write([&](transaction& t) { return create_companion(t, a, {default_user_id(), org}, env); }));
    return a;
  }
  std::string groups_of(const agent_id& id) {
    std::string out;
    for (auto& g : groups_of_member(*snapshot(), id)) out += g.description + ";";
    return out;
  }
  bool has_block(const agent_id& id, const block& b) {
    auto have = find_agent(*snapshot(), id)->block_ids;
    return std::find(have.begin(), have.end(), b.id) != have.end();
  }
};

std::string changed(group g, std::string_view patch) {
  auto done = apply(g, made<group_change>(patch));
  if (!done) return done.error().message;
  g.created_at = {};
  return json::to_text(g);
}

std::string member(const std::string& text, const char* name) { return json::print(object(text).at(name)); }

} // namespace

CAF_TEST(a manager brings the members of its type) {
  auto q = made<new_group>(R"({"agent_ids":[")" + ada + R"("],"description":""})");
  CAF_CHECK(q.manager_config_.manager_type_ == manager_type::round_robin);
  auto config = [](const std::string& text) { return reading<new_manager>(text); };
  CAF_CHECK_EQUAL(config(R"({"manager_type":"dynamic","manager_agent_id":")" + ada + R"("})"), "ok");
  CAF_CHECK(config(R"({"manager_type":"supervisor"})").find("Field required") != std::string::npos);
  CAF_CHECK(config(R"({"manager_type":"supervisor","manager_agent_id":null})").find("string_type") !=
            std::string::npos);
  CAF_CHECK(config(R"({"manager_type":"swarm"})").find("union_tag_invalid") != std::string::npos);
  CAF_CHECK_EQUAL(config(R"({"manager_type":"swarm","first_agent_id":")" + ada + R"("})"), "ok");
  CAF_CHECK(config(R"({"max_turns":3})").find("union_tag_not_found") != std::string::npos);
  CAF_CHECK_EQUAL(config(R"({"manager_type":"round_robin","manager_agent_id":7})"),
                  "ok"); // none of its members
  CAF_CHECK_EQUAL(reading<manager_change>(R"({"manager_type":"supervisor","manager_agent_id":null})"), "ok");
  CAF_CHECK(reading<manager_change>(R"({"manager_type":"supervisor"})").find("missing") != std::string::npos);
  CAF_CHECK_EQUAL(reading<manager_change>(R"({"manager_type":"sleeptime"})"), "ok");
}

CAF_TEST(falsy values of a change are values) {
  fixed_environment env;
  auto round = *make_group(round_of({nth<agent_id>(1)}), default_org_id(), env);
  round.max_turns = 5;
  CAF_CHECK_EQUAL(member(changed(round, R"({"description":""})"), "description"), R"("")");
  CAF_CHECK_EQUAL(member(changed(round, R"({"description":null})"), "description"), R"("a group")");
  CAF_CHECK_EQUAL(member(changed(round, R"({"agent_ids":[]})"), "agent_ids"), "[]");
  auto turns = [&](const std::string& n) {
    return member(changed(round, R"({"manager_config":{"manager_type":"round_robin")" + n + "}}"),
                  "max_turns");
  };
  CAF_CHECK_EQUAL(turns(R"(,"max_turns":0)"), "0");
  CAF_CHECK_EQUAL(turns(R"(,"max_turns":null)"), "null");
  CAF_CHECK_EQUAL(turns(""), "5");
  CAF_CHECK_EQUAL(changed(round, R"({"manager_config":{"manager_type":"sleeptime"}})"),
                  "Cannot change group pattern after creation");
}

CAF_TEST(a counter begins with the first frequency and goes with the last) {
  fixed_environment env;
  auto g = *make_group(managed(manager_type::sleeptime, 1, {}), default_org_id(), env);
  CAF_CHECK(!g.turns_counter);
  auto set = [&](const std::string& n) {
    auto done = apply(
        g, made<group_change>(
               R"({"manager_config":{"manager_type":"sleeptime","sleeptime_agent_frequency":)" + n + "}}"));
    CAF_REQUIRE(done);
    return g.turns_counter;
  };
  CAF_CHECK(set("3") == -1);
  g.turns_counter = 2;
  CAF_CHECK(set("7") == 2);
  CAF_CHECK(!set("0") && g.sleeptime_agent_frequency == 0);
  CAF_CHECK(set("1") == -1);
  CAF_CHECK(!set("null") && !g.sleeptime_agent_frequency);
}

CAF_TEST(lengths of buffers fit each other) {
  fixed_environment env;
  auto voice = [&](std::optional<std::int64_t> most, std::optional<std::int64_t> least) {
    auto q = managed(manager_type::voice_sleeptime, 1, {});
    q.manager_config_.max_message_buffer_length = {most.has_value(), most};
    q.manager_config_.min_message_buffer_length = {least.has_value(), least};
    return make_group(q, default_org_id(), env);
  };
  CAF_CHECK(voice({}, {}));
  CAF_CHECK(voice(20, 8));
  CAF_CHECK(!voice(20, {}));
  CAF_CHECK(!voice({}, 8));
  CAF_CHECK(!voice(20, 4));
  CAF_CHECK(!voice(8, 8));
  // One alone is held against the other one that is there.
  CAF_CHECK(changed(*voice(20, 8), R"({"manager_config":{"manager_type":"voice_sleeptime",
    "min_message_buffer_length":21}})")
                .find("must be greater than") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE(stored_groups, group_store)

CAF_TEST(a group names agents that are there and each once) {
  auto a = make(1), b = make(2), twin = make(3, [](agent&x) { x.name = "agent 1"; });
  auto nobody = nth<agent_id>(9);
  CAF_CHECK(refused(round_of({a.id, twin.id})) == errc{});
  CAF_CHECK(refused(round_of({})) == errc{});
  CAF_CHECK(refused(round_of({a.id, nobody})) == errc::not_found);
  CAF_CHECK(refused(round_of({a.id, b.id, a.id})) == errc::unprocessable);
  CAF_CHECK(refused(managed(manager_type::dynamic, 2, {a.id, a.id})) == errc::invalid_argument);
  CAF_CHECK(refused(managed(manager_type::dynamic, 2, {a.id, twin.id})) == errc::invalid_argument);
  CAF_CHECK(refused(managed(manager_type::supervisor, 9, {a.id})) == errc::conflict);
}

CAF_TEST(members and managers find their groups) {
  auto a = make(1), b = make(2), boss = make(3);
  auto g = make_group(managed(manager_type::supervisor, 3, {a.id, b.id}));
  CAF_CHECK_EQUAL(groups_of(a.id), "a group;");
  CAF_CHECK_EQUAL(groups_of(boss.id), "");
  CAF_CHECK(managed_group(*snapshot(), boss.id)->id == g.id);
  auto shown = object(agent_state(*snapshot(), boss, agent_relations::all()));
  CAF_CHECK(json::string_or(shown.at("managed_group"), "id") == g.id.str());
  CAF_CHECK(shown.at("multi_agent_group") == shown.at("managed_group"));
  // Another manager, another member.
  g.agent_ids = {b.id};
  g.manager_agent_id = a.id;
  CAF_REQUIRE(write([&](transaction& t) { return storage::update_group(t, g, env); }));
  CAF_CHECK_EQUAL(groups_of(a.id), "");
  CAF_CHECK(!managed_group(*snapshot(), boss.id) && managed_group(*snapshot(), a.id));
  // Its manager cannot go; a member can, and is still named.
  auto remove = [&](const agent& x) {
    return write([&](transaction& t) { return delete_agent(t, x, env); });
  };
  CAF_CHECK(remove(a).error().code == errc::conflict);
  CAF_CHECK(find_agent(*snapshot(), a.id));
  CAF_CHECK(remove(b));
  CAF_CHECK_EQUAL(groups_of(b.id), "");
  CAF_CHECK(find_group(*snapshot(), g.id)->agent_ids == std::vector{b.id});
  CAF_REQUIRE(write([&](transaction& t) { erase_group(t, g, env); }));
  CAF_CHECK(remove(a));
}

CAF_TEST(a shared block reaches everybody and leaves everybody) {
  auto taken = owned("board", "my own");
  auto board = owned("board", "ours");
  board.id = nth<block_id>(50);
  auto a = make(1), b = make(2), boss = make(3), full = make(4, {}, {taken});
  CAF_REQUIRE(write([&](transaction& t) { put_block(t, board); }));
  auto q = managed(manager_type::supervisor, 3, {a.id});
  q.shared_block_ids = {board.id};
  auto g = make_group(q);
  CAF_CHECK(has_block(a.id, board) && has_block(boss.id, board) && !has_block(b.id, board));
  q.agent_ids = {full.id};
  auto other = *troupe::make_group(q, org, env);
  other.block_ids = {board.id};
  CAF_CHECK(!write([&](transaction& t) { return storage::create_group(t, other); }));
  CAF_CHECK(!find_group(*snapshot(), other.id)); // all or nothing
  CAF_REQUIRE(write([&](transaction& t) { unshare_block(t, *find_group(t, g.id), board.id); }));
  CAF_CHECK(!has_block(a.id, board) && !has_block(boss.id, board));
  CAF_REQUIRE(write([&](transaction& t) { return share_block(t, *find_group(t, g.id), board); }));
  CAF_REQUIRE(write([&](transaction& t) { return share_block(t, *find_group(t, g.id), board); }));
  CAF_CHECK(has_block(a.id, board) && find_group(*snapshot(), g.id)->block_ids == std::vector{board.id});
  // What one had before is not taken away by a block that was never shared.
  CAF_REQUIRE(write([&](transaction& t) { unshare_block(t, *find_group(t, g.id), taken.id); }));
  CAF_CHECK(has_block(full.id, taken));
}

CAF_TEST(an agent and its companion) {
  auto notes = owned("notes", "one");
  auto a = main(1, {}, {notes});
  auto g = *managed_group(*snapshot(), a.id);
  CAF_CHECK(g.manager_type_ == manager_type::sleeptime && g.sleeptime_agent_frequency == 5 &&
            g.turns_counter == -1);
  auto companion = *find_agent(*snapshot(), g.agent_ids.at(0));
  CAF_CHECK_EQUAL(companion.name, "agent 1-sleeptime");
  CAF_CHECK(companion.type == agent_type::sleeptime_agent && !companion.enable_sleeptime);
  CAF_CHECK(has_block(companion.id, notes));
  CAF_CHECK_EQUAL(companion.block_ids.size(), 2u);
  CAF_CHECK_EQUAL(companion.tool_ids.size(), 4u);
  // What the agent is given later, its companion is given as well; not the other way round.
  auto plan = owned("plan", "later"), mine = owned("mine", "own");
  plan.id = nth<block_id>(50);
  mine.id = nth<block_id>(51);
  CAF_REQUIRE(write([&](transaction& t) {
    put_block(t, plan);
    put_block(t, mine);
    CAF_CHECK(attach_block(t, *find_agent(t, a.id), plan));
    CAF_CHECK(attach_block(t, *find_agent(t, companion.id), mine));
  }));
  CAF_CHECK(has_block(companion.id, plan) && !has_block(a.id, mine));
}

CAF_TEST(a voice agent has another companion) {
  auto a = main(1, [](agent& x) { x.type = agent_type::voice_convo_agent; });
  auto g = *managed_group(*snapshot(), a.id);
  CAF_CHECK(g.manager_type_ == manager_type::voice_sleeptime && !g.turns_counter);
  CAF_CHECK(g.max_message_buffer_length == 30 && g.min_message_buffer_length == 15);
  CAF_CHECK(find_agent(*snapshot(), g.agent_ids.at(0))->type == agent_type::voice_sleeptime_agent);
}

CAF_TEST(agent and companion and group go together) {
  auto enabled = [](agent& x) { x.enable_sleeptime = true; };
  auto remove = [&](const agent_id& id) {
    must(write([&](transaction& t) { return delete_agent(t, *find_agent(t, id), env); }));
  };
  auto a = main(1, enabled), b = main(2, enabled), c = main(3, enabled);
  auto first = *managed_group(*snapshot(), a.id), second = *managed_group(*snapshot(), b.id),
       third = *managed_group(*snapshot(), c.id);
  remove(a.id);
  CAF_CHECK(!find_agent(*snapshot(), a.id) && !find_agent(*snapshot(), first.agent_ids[0]) &&
            !find_group(*snapshot(), first.id));
  remove(second.agent_ids[0]); // the companion: the agent stays, without one
  CAF_CHECK(!find_group(*snapshot(), second.id) && !managed_group(*snapshot(), b.id));
  CAF_CHECK(find_agent(*snapshot(), b.id) && !find_agent(*snapshot(), b.id)->enable_sleeptime);
  CAF_REQUIRE(
      write([&](transaction& t) { erase_group(t, third, env); })); // the group alone: both agents stay
  CAF_CHECK(find_agent(*snapshot(), c.id)->enable_sleeptime && find_agent(*snapshot(), third.agent_ids[0]));
  remove(c.id);
  CAF_CHECK(find_agent(*snapshot(), third.agent_ids[0]));
}

CAF_TEST(messages of a group are found and forgotten) {
  auto a = make(1), b = make(2), boss = make(3);
  auto round = make_group(round_of({a.id, b.id})),
       led = make_group(managed(manager_type::supervisor, 3, {a.id}));
  conversation c;
  c.id = nth<conversation_id>(40); // not the number of an agent: both own contexts
  c.agent = a.id;
  c.organization_id = org;
  auto tagged = [&](const agent& of, std::uint64_t n, const group& g) {
    auto m = *message_of(of, n);
    m.group = g.id.str();
    return std::make_shared<const message>(m);
  };
  context_key of_a{a.id, std::nullopt}, of_b{b.id, std::nullopt}, of_c{a.id, c.id};
  CAF_REQUIRE(write([&](transaction& t) {
    append_messages(t, {message_of(a, 20), tagged(a, 21, round)}, &of_a);
    append_messages(t, {tagged(b, 22, round)}, &of_b);
    storage::create_conversation(t, c, message_of(a, 23, message_role::system));
    append_messages(t, {tagged(a, 24, round)}, &of_c);
    append_messages(t, {tagged(a, 25, led), tagged(boss, 26, led)}, nullptr);
  }));
  CAF_CHECK_EQUAL(group_messages(*snapshot(), round, false).size(), 3u);
  CAF_CHECK_EQUAL(group_messages(*snapshot(), led, false).size(), 1u); // its manager's alone
  CAF_CHECK_EQUAL(group_messages(*snapshot(), led, true).size(), 2u);
  CAF_CHECK_EQUAL(contexts_of(*snapshot(), group_messages(*snapshot(), round, true)).size(), 3u);
  auto before = activity_of(*snapshot(), a.id).message_count;
  CAF_REQUIRE(write([&](transaction& t) { erase_group_messages(t, group_messages(t, round, true)); }));
  auto r = snapshot();
  CAF_CHECK(group_messages(*r, round, true).empty() && !find_message(*r, nth<message_id>(21)));
  CAF_CHECK_EQUAL(activity_of(*r, a.id).message_count, before - 2);
  CAF_CHECK_EQUAL(texts(context_messages(*r, of_a)), "be good,text 20");
  CAF_CHECK_EQUAL(
      texts(thread(*r, c.id, {.limit = 10, .newest_first = false, .before = {}, .after = {}, .group = {}})),
      "text 23");
  CAF_CHECK_EQUAL(context_ids(*r, of_c).size(), 1u);
  CAF_CHECK(check(*r).problems.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
