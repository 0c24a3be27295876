// Tools that run outside: in order or side by side, cancelled, beside blocks that move, and never twice after a crash.
#define CAF_SUITE tools
#include "storage/tools.hpp"

#include "storage/blocks.hpp"
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "tea", .parallel_tool_calls = true});

  void attach(std::string name, bool parallel = false) {
    CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
      tool row;
      row.id = env.make_id<tool_id>();
      row.name = name;
      row.source_type = "python";
      row.source_code = "def " + name + "(word: str): pass";
      row.enable_parallel_execution = parallel;
      row.json_schema =
          json::try_parse(R"({"name":")" + name +
                          R"(","description":"","parameters":{"type":"object","properties":{}}})")
              ->get_object();
      row.organization_id = default_org_id();
      row.created_at = env.now();
      storage::put_tool(t, row);
      auto a = *storage::find_agent(t, ada), before = a;
      a.tool_ids.push_back(row.id);
      storage::put_agent(t, a, &before);
      return {};
    }));
  }
  static tool_call calling(std::string id, std::string name, std::string word) {
    return {std::move(id), std::move(name), R"({"word":")" + word + R"("})"};
  }
  sent_turn call(std::vector<tool_call> calls, mode how = mode::blocking) {
    auto turn = send(ada, "go", how);
    settle();
    answer_model(0, call_reply(std::move(calls)));
    settle();
    return turn;
  }
  std::string running() const { return tool_desk->running(); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(tool_tests, fixture)

CAF_TEST(calls run one after another and what they return is told in their order) {
  attach("look");
  call({calling("1", "look", "a"), append_call("2", "cake"), calling("3", "look", "b")});
  CAF_CHECK_EQUAL(running(), "look(a)");
  answer_tool(0, R"({"result":"one"})");
  CAF_CHECK_EQUAL(running(), "look(b)");
  CAF_CHECK_EQUAL(block_value(ada), "tea"); // nothing of a step is stored before its end
  answer_tool(0, R"({"error":{"type":"ValueError","message":"no"}})");
  CAF_CHECK_EQUAL(block_value(ada), "tea\ncake");
  CAF_CHECK_EQUAL(last_line(ada), "tool: 1 -> success 2 -> success 3 -> error");
  say("done");
}

CAF_TEST(those that may run beside others begin at once) {
  attach("look", true);
  attach("act");
  call({calling("1", "act", "a"), calling("2", "look", "b"), calling("3", "look", "c")});
  CAF_CHECK_EQUAL(running(), "look(b) look(c) act(a)");
  answer_tool(2, R"({"result":1})");
  answer_tool(1, R"({"result":3})");
  CAF_CHECK(history(ada).empty());
  answer_tool(0, R"({"result":2})");
  CAF_CHECK_EQUAL(last_line(ada), "tool: 1 -> success 2 -> success 3 -> success");
}

CAF_TEST(a cancelled turn ends its call and begins no further one) {
  attach("look");
  auto turn = call({calling("1", "look", "a"), calling("2", "look", "b")});
  cancel(turn);
  settle();
  CAF_CHECK_EQUAL(running(), "");
  CAF_CHECK(row(turn.id).status == run_status::cancelled);
  CAF_CHECK_EQUAL(last_line(ada), "tool: 1 -> error 2 -> error");
}

CAF_TEST(a block that moves on is no reason to call again) {
  attach("look");
  call({calling("1", "look", "a"), append_call("2", "cake")});
  hold(store);
  answer_tool(0, R"({"result":"one","blocks":{"human":"coffee"}})");
  change_block(ada, "water");
  release();
  settle();
  CAF_CHECK_EQUAL(running(), "");
  CAF_CHECK_EQUAL(last_line(ada), "tool: 1 -> success 2 -> success");
  CAF_CHECK_EQUAL(block_value(ada), "coffee\ncake");
}

CAF_TEST(a crash while a call runs) {
  attach("look");
  for (auto how : {mode::blocking, mode::async}) {
    auto n = history(ada).size();
    auto turn = call({calling("1", "look", "a")}, how);
    CAF_CHECK_EQUAL(history(ada).size(), n);
    crash();
    settle();
    CAF_CHECK_EQUAL(running(), "");
    auto h = history(ada);
    CAF_REQUIRE_EQUAL(h.size(), n + 3);
    CAF_CHECK_EQUAL(h[n], "user: go");
    CAF_CHECK_EQUAL(h[n + 2], "tool: 1 -> error");
    if (how == mode::async) say("I see");
    CAF_CHECK(row(turn.id).status == (how == mode::async ? run_status::completed : run_status::failed));
    CAF_CHECK_EQUAL(row(turn.id).steps.size(), how == mode::async ? 2u : 1u);
  }
}

CAF_TEST(an approved call that a crash interrupts is answered once) {
  attach("look");
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    auto a = *storage::find_agent(t, ada), before = a;
    a.tool_rules.push_back(make_rule(tool_rule_type::requires_approval, "look"));
    storage::put_agent(t, a, &before);
    return {};
  }));
  call({calling("1", "look", "a")});
  decide(ada, {"1"}, true);
  settle();
  CAF_CHECK_EQUAL(running(), "look(a)");
  crash();
  settle();
  CAF_CHECK_EQUAL(last_line(ada), "tool: 1 -> error");
  auto again = decide(ada, {"1"}, true); // repeated by a client that had no answer
  settle();
  CAF_CHECK_EQUAL(running(), "");
}

CAF_TEST(a store that takes nothing lets nothing begin) {
  attach("look");
  auto turn = send(ada, "go");
  settle();
  armed_fault full("store.commit", faults::kind::disk_full);
  answer_model(0, call_reply({calling("1", "look", "a")}));
  settle();
  CAF_CHECK_EQUAL(running(), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
