// The native loop: every way through a turn, as the effects that it asks for (reference: agent-loop §2, §7).
#define CAF_SUITE native_loop
#include "tests/unit/native_turns.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

CAF_TEST(text ends a turn) {
  const transcript cases[] = {
      {"plain answer", R"(
        @tools a b
        > start
        model: system(be good) user(hi); a b
        > say hello
        commit: user(hi) assistant(hello); step success end_turn; run completed end_turn; agent end_turn
        > committed
        emit: assistant(hello)
        finished end_turn; 1 calls of the model
        > committed
        > cancel)"},
      {"empty answer: no assistant message", R"(
        > start
        model: system(be good) user(hi);
        > say nothing
        commit: user(hi); step success end_turn; run completed end_turn; agent end_turn
        > committed
        finished end_turn; 1 calls of the model)"},
      {"answer cut off by the provider", R"(
        > start
        model: system(be good) user(hi);
        > cut hel
        commit: user(hi) assistant(hel); step success max_tokens_exceeded; run failed max_tokens_exceeded; agent max_tokens_exceeded
        > committed
        emit: assistant(hel)
        finished max_tokens_exceeded; 1 calls of the model)"},
      {"cut off in a stream: the run completes", R"(
        @mode stream
        > start
        model: system(be good) user(hi);
        > cut hel
        commit: started user(hi) assistant(hel); step success max_tokens_exceeded; run completed max_tokens_exceeded; agent max_tokens_exceeded)"},
      {"tokens were shown already: nothing more to emit", R"(
        @tokens
        > start
        model: system(be good) user(hi);
        > say hello
        commit: user(hi) assistant(hello); step success end_turn; run completed end_turn; agent end_turn
        > committed
        emit:
        finished end_turn; 1 calls of the model)"},
      {"no steps allowed: nothing is stored of the input", R"(
        @steps 0
        > start
        commit:; run completed end_turn; agent end_turn
        > committed
        finished end_turn; 0 calls of the model)"},
      {"autoclear keeps the system message alone", R"(
        @autoclear
        @user before
        > start
        model: system(be good) user(hi);
        > say hello
        commit: clear user(hi) assistant(hello); step success end_turn; run completed end_turn; agent end_turn)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(calls continue a turn) {
  const transcript cases[] = {
      {"one call then text", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call c1 a {"x":"é"}
        tools: c1 a {"x":"é"}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {"x": "\u00e9"}] tool{c1 success done}; step success; used 1
        > committed
        emit: assistant[c1 a {"x": "\u00e9"}] tool{c1 success done}
        model: system(be good) user(hi) assistant[c1 a {"x": "\u00e9"}] tool{c1 success done}; a
        > say fine
        commit: assistant(fine); step success end_turn; run completed end_turn; agent end_turn
        > committed
        emit: assistant(fine)
        finished end_turn; 2 calls of the model)"},
      {"parallel calls: one message of calls and one of returns in the order of the calls", R"(
        @tools a b
        @parallel
        > start
        model: system(be good) user(hi); a b parallel
        > call c1 a {} | c2 b {} | c3 a {}
        tools: c1 a {} c2 b {} c3 a {}
        > returned c3 ok three | c1 ok one | c2 error two
        commit: user(hi) assistant[c1 a {}, c2 b {}, c3 a {}] tool{c1 success one, c2 error two, c3 success three}; step success; used 3)"},
      {"without leave for parallel calls the first counts", R"(
        @tools a b
        > start
        model: system(be good) user(hi); a b
        > call c1 a {} | c2 b {}
        tools: c1 a {})"},
      {"a call without an id gets one", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call - a {}
        tools: call_00000000 a {})"},
      {"arguments that are none, two objects, and heartbeats", R"(
        @tools a
        @parallel
        > start
        model: system(be good) user(hi); a parallel
        > call c1 a {"x": | c2 a {"x":1}{"x":2} | c3 a {"x":1,"request_heartbeat":true,"thinking":"t"} | c4 a "{\"x\":3}"
        tools: c1 a {} c2 a {"x":1} c3 a {"x":1} c4 a {"x":3})"},
      {"the last step runs its tool and ends", R"(
        @tools a
        @steps 1
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success max_steps; used 1; run completed max_steps; agent max_steps
        > committed
        emit: assistant[c1 a {}] tool{c1 success done}
        finished max_steps; 1 calls of the model)"},
      {"in a token stream only the return is new", R"(
        @tools a
        @tokens
        @steps 1
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success max_steps; used 1; run completed max_steps; agent max_steps
        > committed
        emit: tool{c1 success done}
        finished max_steps; 1 calls of the model)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(rules of tools) {
  const transcript cases[] = {
      {"a tool that nobody attached is refused, the turn goes on", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call c1 z {}
        commit: user(hi) assistant[c1 z {}] tool{c1 error [ToolConstraintError] Cannot call z, valid tools include: ['a'].}; step success)"},
      {"a tool that ends the turn", R"(
        @tools a
        @rules [{"type":"exit_loop","tool_name":"a"}]
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 error oh
        commit: user(hi) assistant[c1 a {}] tool{c1 error oh}; step success tool_rule; used 1; run completed tool_rule; agent tool_rule)"},
      {"first tool forced by name, then its child", R"(
        @tools a b c
        @rules [{"type":"run_first","tool_name":"a"},{"type":"constrain_child_tools","tool_name":"a","children":["b","c"]}]
        @parallel
        > start
        model: system(be good) user(hi); a forced a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success; used 1
        > committed
        emit: assistant[c1 a {}] tool{c1 success done}
        model: system(be good) user(hi) assistant[c1 a {}] tool{c1 success done}; b c required)"},
      {"arguments fixed by a rule replace the model's", R"(
        @tools a
        @rules [{"type":"run_first","tool_name":"a","args":{"x":"fixed"}}]
        > start
        model: system(be good) user(hi); a forced a
        > call c1 a {"x":"mine","y":2}
        tools: c1 a {"x":"fixed","y":2})"},
      {"fixed arguments that do not fit end the turn", R"(
        @tools a
        @rules [{"type":"run_first","tool_name":"a","args":{"y":"no number"}}]
        > start
        model: system(be good) user(hi); a forced a
        > call c1 a {}
        commit: user(hi) assistant[c1 a {}] tool{c1 error Invalid prefilled tool arguments from tool rules (source=InitToolRule(a)): Invalid value for 'y': 'no number' does not match expected schema type 'integer'.}; step success invalid_tool_call; used 1; run failed invalid_tool_call; agent invalid_tool_call)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(text while a tool is still required is followed by a heartbeat) {
  auto d = driver();
  d.play("@tools a b\n@rules [{\"type\":\"required_before_exit\",\"tool_name\":\"b\"}]\n> start\n> say bye");
  auto& batch = std::get<turn::commit>(d.effects().back()).batch;
  CAF_REQUIRE_EQUAL(batch.messages.size(), 3u);
  CAF_CHECK_EQUAL(
      text_of(*batch.messages[2]),
      "{\n  \"type\": \"heartbeat\",\n  \"reason\": \"[This is an automated system message hidden "
      "from the user] ToolRuleViolated: You must call b at least once to exit the loop.\",\n  "
      "\"time\": \"2026-11-21 06:24:29 AM UTC+0000\"\n}");
  CAF_CHECK(!batch.messages[2]->otid);
  CAF_CHECK(!batch.end);
}
