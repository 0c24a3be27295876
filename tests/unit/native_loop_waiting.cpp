// The native loop where it waits for somebody, is stopped, or fails: approvals, tools of clients, cancel, errors of
// the model and of the store (reference: agent-loop §2.5, §6.4, §7).
#define CAF_SUITE native_loop_waiting
#include "tests/unit/native_turns.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

CAF_TEST(calls that wait for leave) {
  const transcript cases[] = {
      {"a gated call alone: nothing runs, arguments stay as written", R"(
        @tools a b
        @rules [{"type":"requires_approval","tool_name":"a"}]
        > start
        model: system(be good) user(hi); a b
        > call c1 a {"x":1,"request_heartbeat":true}
        commit: user(hi) asks[c1 a {"x":1,"request_heartbeat":true}]; step success requires_approval; run completed requires_approval; agent requires_approval
        > committed
        emit: asks[c1 a {"x":1,"request_heartbeat":true}]
        finished requires_approval; 1 calls of the model)"},
      {"with others: those wait too, in a message before", R"(
        @tools a b
        @parallel
        @rules [{"type":"requires_approval","tool_name":"a"}]
        > start
        model: system(be good) user(hi); a b parallel
        > call c1 a {} | c2 b {} | c3 a {}
        commit: user(hi) assistant[c2 b {}] asks[c1 a {}, c3 a {}]; step success requires_approval; run completed requires_approval; agent requires_approval)"},
      {"a tool of the client, which hides the server's", R"(
        @tools a b
        @client a
        > start
        model: system(be good) user(hi); b a
        > call c1 a {}
        commit: user(hi) asks[c1 a {}]; step success requires_approval; run completed requires_approval; agent requires_approval)"},
      {"a rule for a tool that is not attached gates it too", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"z"}]
        > start
        model: system(be good) user(hi); a
        > call c1 z {}
        commit: user(hi) asks[c1 z {}]; step success requires_approval; run completed requires_approval; agent requires_approval)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(answers resume the step) {
  const transcript cases[] = {
      {"approved: it runs, the reply is not stored again", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @asked c1 a {"x":"1"}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]}]}
        > start
        tools: c1 a {"x":"1"}
        > returned c1 ok done
        commit: answers{c1 yes} tool{c1 success done}; used 1
        > committed
        emit: tool{c1 success done}
        model: system(be good) asks[c1 a {"x":"1"}] answers{c1 yes} tool{c1 success done}; a
        > say fine
        commit: assistant(fine); step success end_turn; run completed end_turn; agent end_turn)"},
      {"denied: nothing runs, the turn goes on", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":false,"reason":"no paint"}]}]}
        > start
        commit: answers{c1 no} tool{c1 error Error: request to call tool denied. User reason: no paint}
        > committed
        emit: tool{c1 error Error: request to call tool denied. User reason: no paint}
        model: system(be good) asks[c1 a {}] answers{c1 no} tool{c1 error Error: request to call tool denied. User reason: no paint}; a)"},
      {"returns of the client, then denials, then what ran; ungated ones last", R"(
        @tools a b
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @with c0 b {}
        @asked c1 a {} | c2 a {} | c3 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true},{"type":"approval","tool_call_id":"c2","approve":false},{"type":"tool","tool_call_id":"c3","tool_return":"mine","status":"error"}]}]}
        > start
        tools: c1 a {} c0 b {}
        > returned c0 ok zero | c1 ok one
        commit: answers{c1 yes, c2 no, c3 returned} tool{c3 error mine, c2 error Error: request to call tool denied. User reason: None, c1 success one, c0 success zero}; used 2)"},
      {"further messages come with the next step", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]},{"role":"user","content":"and?"}]}
        > start
        tools: c1 a {}
        > returned c1 ok done
        commit: answers{c1 yes} tool{c1 success done}; used 1
        > committed
        emit: tool{c1 success done}
        model: system(be good) asks[c1 a {}] answers{c1 yes} tool{c1 success done} user(and?); a
        > say fine
        commit: user(and?) assistant(fine); step success end_turn; run completed end_turn; agent end_turn)"},
      {"the older form, addressed by the request's message, denies too", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approve":false,"approval_request_id":"message-00000000-0000-4000-8000-000000000200","reason":"r"}]}
        > start
        commit: answers{message-00000000-0000-4000-8000-000000000200 no} tool{c1 error Error: request to call tool denied. User reason: r})"},
      {"in a token stream, denials and returns alone are not shown", R"(
        @tools a
        @tokens
        @rules [{"type":"requires_approval","tool_name":"a"}]
        @asked c1 a {}
        @request {"messages":[{"type":"tool_return","tool_returns":[{"tool_call_id":"c1","tool_return":"mine","status":"success"}]}]}
        > start
        commit: answers{c1 returned} tool{c1 success mine}
        > committed
        emit:
        model: system(be good) asks[c1 a {}] answers{c1 returned} tool{c1 success mine}; a)"},
      {"a tool that was taken away in the meantime", R"(
        @tools b
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]}]}
        > start
        commit: answers{c1 yes} tool{c1 error Tool not found})"},
      {"an approved tool may end the turn", R"(
        @tools a
        @rules [{"type":"requires_approval","tool_name":"a"},{"type":"exit_loop","tool_name":"a"}]
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]}]}
        > start
        tools: c1 a {}
        > returned c1 ok done
        commit: answers{c1 yes} tool{c1 success done}; used 1; run completed tool_rule; agent tool_rule)"},
      {"a message instead of an answer is refused", R"(
        @tools a
        @asked c1 a {}
        > start
        commit:; run failed with error
        > committed
        finished failed: CONFLICT: Cannot send a new message: The agent is waiting for approval on a tool call. Please approve or deny the pending request before continuing.; 0 calls of the model)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(ids of a suspended reply in a token stream are neighbours) {
  auto d = driver();
  d.play(R"(
    @tools a
    @tokens
    @rules [{"type":"requires_approval","tool_name":"a"}]
    > start
    > call c1 a {})");
  auto& chunks = last<turn::call_model>(d).chunks;
  auto& asked = *last<turn::commit>(d).batch.messages.back();
  CAF_CHECK_EQUAL(asked.id.str(), project::approval_id_for(chunks.id).str());
  CAF_CHECK_EQUAL(asked.otid.value_or(""), asked.id.str());
  CAF_CHECK_EQUAL(asked.tool_call_id.value_or(""), "c1");
  CAF_CHECK(chunks.gated == std::vector<std::string>{"a"});
}

CAF_TEST(the resumed step keeps the id of its request) {
  auto d = driver();
  d.play(R"(
    @tools a
    @asked c1 a {}
    @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]}]}
    > start
    > returned c1 ok done)");
  for (auto& m : last<turn::commit>(d).batch.messages) CAF_CHECK(m->step == nth<step_id>(7));
}

CAF_TEST(cancel in every state) {
  const transcript cases[] = {
      {"before it began", R"(
        > cancel
        commit:; run cancelled cancelled; agent cancelled
        > start
        > committed
        finished cancelled; 0 calls of the model)"},
      {"while the model answers: nothing of the step is stored", R"(
        > start
        model: system(be good) user(hi);
        > cancel
        abandon
        commit:; step cancelled cancelled; run cancelled cancelled; agent cancelled
        > say too late
        > committed
        finished cancelled; 0 calls of the model)"},
      {"while tools run: what they did is stored", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > cancel
        abandon tools
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success cancelled; used 1; run cancelled cancelled; agent cancelled
        > committed
        emit: assistant[c1 a {}] tool{c1 success done}
        finished cancelled; 1 calls of the model)"},
      {"while a step is being stored: no further step", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success; used 1
        > cancel
        > committed
        emit: assistant[c1 a {}] tool{c1 success done}
        commit:; run cancelled cancelled; agent cancelled
        > committed
        finished cancelled; 1 calls of the model)"},
      {"while the last step is being stored: it has ended already", R"(
        > start
        model: system(be good) user(hi);
        > say hello
        commit: user(hi) assistant(hello); step success end_turn; run completed end_turn; agent end_turn
        > cancel
        > committed
        emit: assistant(hello)
        finished end_turn; 1 calls of the model)"},
      {"twice", R"(
        > start
        model: system(be good) user(hi);
        > cancel
        abandon
        commit:; step cancelled cancelled; run cancelled cancelled; agent cancelled
        > cancel)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(errors of the model) {
  const transcript cases[] = {
      {"blocking: the agent keeps its last reason", R"(
        > start
        model: system(be good) user(hi);
        > fail
        commit:; step failed llm_api_error; run failed with error
        > committed
        finished failed: RATE_LIMIT_EXCEEDED: slow; 0 calls of the model)"},
      {"a stream that has shown nothing", R"(
        @mode stream
        > start
        model: system(be good) user(hi);
        > fail
        commit: started; step failed llm_api_error; run failed llm_api_error with error; agent llm_api_error)"},
      {"a stream in its middle: what was read is the answer", R"(
        @mode stream
        > start
        model: system(be good) user(hi);
        > fail visible
        commit: started; step failed llm_api_error; run completed llm_api_error; agent llm_api_error)"},
      {"not so in the background", R"(
        @mode background
        > start
        model: system(be good) user(hi);
        > fail visible
        commit: started; step failed llm_api_error; run failed llm_api_error with error; agent llm_api_error)"},
      {"async", R"(
        @mode async
        > start
        model: system(be good) user(hi);
        > fail
        commit:; step failed llm_api_error; run failed error with error; agent error)"},
      {"in the second step: the first is kept", R"(
        @tools a
        > start
        model: system(be good) user(hi); a
        > call c1 a {}
        tools: c1 a {}
        > returned c1 ok done
        commit: user(hi) assistant[c1 a {}] tool{c1 success done}; step success; used 1
        > committed
        emit: assistant[c1 a {}] tool{c1 success done}
        model: system(be good) user(hi) assistant[c1 a {}] tool{c1 success done}; a
        > fail
        commit:; step failed llm_api_error; run failed with error
        > committed
        finished failed: RATE_LIMIT_EXCEEDED: slow; 1 calls of the model)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(errors of the store) {
  const transcript cases[] = {
      {"the disk is full: nothing is shown", R"(
        > start
        model: system(be good) user(hi);
        > say hello
        commit: user(hi) assistant(hello); step success end_turn; run completed end_turn; agent end_turn
        > full
        finished failed: The disk is full, not stored; 1 calls of the model)"},
      {"a block moved on: the tools run again, with the same inputs", R"(
        @tools a b
        @parallel
        > start
        model: system(be good) user(hi); a b parallel
        > call c1 a {} | c2 z {}
        tools: c1 a {}
        > edited c1 ok old
        commit: user(hi) assistant[c1 a {}, c2 z {}] tool{c1 success old, c2 error [ToolConstraintError] Cannot call z, valid tools include: ['a', 'b'].}; step success; edits 1; used 1
        > conflict
        tools: c1 a {}
        > edited c1 ok new
        commit: user(hi) assistant[c1 a {}, c2 z {}] tool{c1 success new, c2 error [ToolConstraintError] Cannot call z, valid tools include: ['a', 'b'].}; step success; edits 1; used 1
        > committed
        emit: assistant[c1 a {}, c2 z {}] tool{c1 success new, c2 error [ToolConstraintError] Cannot call z, valid tools include: ['a', 'b'].}
        model: system(be good) user(hi) assistant[c1 a {}, c2 z {}] tool{c1 success new, c2 error [ToolConstraintError] Cannot call z, valid tools include: ['a', 'b'].}; a b parallel)"},
      {"running again counts as one use", R"(
        @tools a b
        @rules [{"type":"max_count_per_step","tool_name":"a","max_count_limit":2}]
        > start
        model: system(be good) user(hi); a b
        > call c1 a {}
        tools: c1 a {}
        > edited c1 ok old
        commit: user(hi) assistant[c1 a {}] tool{c1 success old}; step success; edits 1; used 1
        > conflict
        tools: c1 a {}
        > edited c1 ok new
        commit: user(hi) assistant[c1 a {}] tool{c1 success new}; step success; edits 1; used 1
        > committed
        emit: assistant[c1 a {}] tool{c1 success new}
        model: system(be good) user(hi) assistant[c1 a {}] tool{c1 success new}; a b)"},
      {"a call with wrong fixed arguments does not run the second time either", R"(
        @tools a b
        @parallel
        @rules [{"type":"run_first","tool_name":"a","args":{"z":1}},{"type":"run_first","tool_name":"b"}]
        > start
        model: system(be good) user(hi); a b required
        > call c1 a {} | c2 b {}
        tools: c2 b {}
        > edited c2 ok old
        commit: user(hi) assistant[c1 a {}, c2 b {}] tool{c1 error Invalid prefilled tool arguments from tool rules (source=InitToolRule(a)): Unknown argument 'z' for tool 'a'., c2 success old}; step success; edits 1; used 2
        > conflict
        tools: c2 b {})"},
      {"the same for an answered approval", R"(
        @tools a
        @asked c1 a {}
        @request {"messages":[{"type":"approval","approvals":[{"type":"approval","tool_call_id":"c1","approve":true}]},{"role":"user","content":"and?"}]}
        > start
        tools: c1 a {}
        > edited c1 ok old
        commit: answers{c1 yes} tool{c1 success old}; edits 1; used 1
        > conflict
        tools: c1 a {}
        > edited c1 ok new
        commit: answers{c1 yes} tool{c1 success new}; edits 1; used 1
        > committed
        emit: tool{c1 success new}
        model: system(be good) asks[c1 a {}] answers{c1 yes} tool{c1 success new} user(and?); a)"},
  };
  for (auto& t : cases) check(t);
}

CAF_TEST(conflicts do not go on for ever) {
  auto d = driver();
  std::string again = "@tools a\n> start\n> call c1 a {}\n";
  for (int i = 0; i < 6; ++i) again += "> edited c1 ok done\n> conflict\n";
  auto out = d.play(again);
  CAF_CHECK(out.ends_with("finished failed: moved on, not stored; 1 calls of the model\n"));
}
