// A block that changes between a tool's reading and the commit: the tool works on the new value, and nothing is lost.
#define CAF_SUITE conflicts
#include "storage/blocks.hpp"
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : house {
  agent_id ada = make_agent({.tools = {"core_memory_append", "core_memory_replace"},
                             .gated = {},
                             .human = "likes tea",
                             .parallel_tool_calls = true});

  // Up to the moment where the tools have run and their step waits for the writer.
  sent_turn run_tools(std::vector<tool_call> calls) {
    auto turn = send(ada, "remember this");
    settle();
    hold(store);
    answer_model(0, call_reply(std::move(calls)));
    settle();
    return turn;
  }
  // The writer does what it has; everybody else goes on until the next step waits for it.
  void write_once() {
    step(store); // the batch
    step(store); // what went to the model
    step(store); // the flush
    settle();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(conflict_tests, fixture)

CAF_TEST(a tool runs again on what was written under it) {
  auto turn = run_tools({append_call("call-1", "likes cake")});
  change_block(ada, "hates tea");
  release();
  CAF_CHECK_EQUAL(block_value(ada), "hates tea\nlikes cake");
  say("noted");
  CAF_CHECK(turn.reply->value.has_value());
  CAF_CHECK_EQUAL(history(ada), (lines{"user: remember this", "assistant: call-1 = core_memory_append",
                                       "tool: call-1 -> success", "assistant: noted"}));
  CAF_CHECK_EQUAL(row(turn.id).steps.size(), 2u);
}

CAF_TEST(what all tools of the step did is done again) {
  run_tools({append_call("call-1", "one"), append_call("call-2", "two")});
  change_block(ada, "new");
  release();
  CAF_CHECK_EQUAL(block_value(ada), "new\none\ntwo");
  CAF_CHECK_EQUAL(last_line(ada), "tool: call-1 -> success call-2 -> success");
}

CAF_TEST(a tool that cannot be done again says so to the model) {
  json::object arguments;
  arguments["label"] = "human";
  arguments["old_content"] = "likes tea";
  arguments["new_content"] = "likes coffee";
  auto turn = run_tools({{"call-1", "core_memory_replace", json::print(json::value(std::move(arguments)))}});
  change_block(ada, "hates tea");
  release();
  CAF_CHECK_EQUAL(block_value(ada), "hates tea");
  CAF_CHECK_EQUAL(last_line(ada), "tool: call-1 -> error");
  say("I see");
  CAF_CHECK(turn.reply->value.has_value());
}

CAF_TEST(a block that goes away under a tool) {
  auto turn = run_tools({append_call("call-1", "likes cake")});
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    storage::erase_block(t, storage::blocks_of_agent(t, ada).front(), env);
    return {};
  }));
  release();
  CAF_CHECK_EQUAL(last_line(ada), "tool: call-1 -> error");
  say("I see");
  CAF_CHECK(turn.reply->value.has_value());
}

CAF_TEST(two agents that share a block both write) {
  auto bob =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});
  CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
    auto shared = storage::blocks_of_agent(t, ada).front();
    storage::erase_block(t, storage::blocks_of_agent(t, bob).front(), env);
    return storage::attach_block(t, *storage::find_agent(t, bob), shared);
  }));
  send(ada, "remember this");
  send(bob, "remember that");
  settle();
  hold(store);
  answer_model(0, call_reply({append_call("call-1", "likes cake")}));
  answer_model(1, call_reply({append_call("call-2", "likes cats")}));
  settle();
  release();
  CAF_CHECK_EQUAL(block_value(ada), "likes tea\nlikes cake\nlikes cats");
  CAF_CHECK_EQUAL(block_value(bob), block_value(ada));
}

CAF_TEST(a block that never rests is a conflict in the end and the step leaves nothing) {
  auto turn = run_tools({append_call("call-1", "likes cake")});
  for (int i = 1; i <= 6; ++i) {
    CAF_CHECK(turn.open());
    change_block(ada, "change " + std::to_string(i));
    write_once();
  }
  release();
  CAF_CHECK(turn.code() == errc::conflict);
  CAF_CHECK_EQUAL(block_value(ada), "change 6");
  CAF_CHECK(history(ada).empty());
  CAF_CHECK(row(turn.id).status == run_status::failed);
}

CAF_TEST(a few conflicts in a row are no harm) {
  auto turn = run_tools({append_call("call-1", "likes cake")});
  for (int i = 1; i <= 5; ++i) {
    change_block(ada, "change " + std::to_string(i));
    write_once();
  }
  release();
  CAF_CHECK(turn.open());
  CAF_CHECK_EQUAL(block_value(ada), "change 5\nlikes cake");
  say("noted");
  CAF_CHECK_EQUAL(history(ada).size(), 4u);
}

CAF_TEST(a cancelled turn that meets a conflict ends) {
  auto turn = run_tools({append_call("call-1", "likes cake")});
  change_block(ada, "hates tea");
  cancel(turn);
  settle();
  release();
  CAF_CHECK(row(turn.id).status == run_status::cancelled);
  CAF_CHECK_EQUAL(block_value(ada), "hates tea\nlikes cake");
}

CAF_TEST_FIXTURE_SCOPE_END()
