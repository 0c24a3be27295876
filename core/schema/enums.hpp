// The closed vocabularies of the API. Stored as numbers: enumerators are only ever appended.
#pragma once

#include "core/json/describe.hpp"
#include "core/json/reader.hpp"

#include <boost/describe.hpp>

namespace troupe {

enum class agent_type {
  memgpt_agent,
  memgpt_v2_agent,
  letta_v1_agent,
  react_agent,
  workflow_agent,
  split_thread_agent,
  sleeptime_agent,
  voice_convo_agent,
  voice_sleeptime_agent
};
BOOST_DESCRIBE_ENUM(agent_type, memgpt_agent, memgpt_v2_agent, letta_v1_agent, react_agent, workflow_agent,
                    split_thread_agent, sleeptime_agent, voice_convo_agent, voice_sleeptime_agent)

// The loop that runs an agent (reference: agent-loop §1.1). `native`: plain text ends the turn, no heartbeats.
constexpr bool is_native_loop(agent_type t) {
  return t == agent_type::letta_v1_agent || t == agent_type::sleeptime_agent;
}

enum class message_role { assistant, user, tool, function, system, approval, summary };
BOOST_DESCRIBE_ENUM(message_role, assistant, user, tool, function, system, approval, summary)

enum class message_type {
  system_message,
  user_message,
  assistant_message,
  reasoning_message,
  hidden_reasoning_message,
  tool_call_message,
  tool_return_message,
  approval_request_message,
  approval_response_message,
  summary_message,
  event_message
};
BOOST_DESCRIBE_ENUM(message_type, system_message, user_message, assistant_message, reasoning_message,
                    hidden_reasoning_message, tool_call_message, tool_return_message,
                    approval_request_message, approval_response_message, summary_message, event_message)

enum class run_status { created, running, completed, failed, cancelled };
BOOST_DESCRIBE_ENUM(run_status, created, running, completed, failed, cancelled)
constexpr bool is_terminal(run_status s) { return s != run_status::created && s != run_status::running; }

enum class stop_reason {
  end_turn,
  error,
  llm_api_error,
  invalid_llm_response,
  invalid_tool_call,
  max_steps,
  max_tokens_exceeded,
  no_tool_call,
  tool_rule,
  cancelled,
  insufficient_credits,
  requires_approval,
  context_window_overflow_in_system_prompt
};
BOOST_DESCRIBE_ENUM(stop_reason, end_turn, error, llm_api_error, invalid_llm_response, invalid_tool_call,
                    max_steps, max_tokens_exceeded, no_tool_call, tool_rule, cancelled, insufficient_credits,
                    requires_approval, context_window_overflow_in_system_prompt)

// The status that a run ends with for a reason to stop (reference: agent-loop §2.5).
constexpr run_status status_for(stop_reason r) {
  switch (r) {
  case stop_reason::end_turn:
  case stop_reason::max_steps:
  case stop_reason::tool_rule:
  case stop_reason::requires_approval: return run_status::completed;
  case stop_reason::cancelled: return run_status::cancelled;
  default: return run_status::failed;
  }
}

enum class step_status { pending, success, failed, cancelled };
BOOST_DESCRIBE_ENUM(step_status, pending, success, failed, cancelled)

enum class feedback_kind { positive, negative };
BOOST_DESCRIBE_ENUM(feedback_kind, positive, negative)

enum class tool_type {
  custom,
  letta_core,
  letta_memory_core,
  letta_multi_agent_core,
  letta_sleeptime_core,
  letta_voice_sleeptime_core,
  letta_builtin,
  letta_files_core,
  external_langchain,
  external_composio,
  external_mcp
};
BOOST_DESCRIBE_ENUM(tool_type, custom, letta_core, letta_memory_core, letta_multi_agent_core,
                    letta_sleeptime_core, letta_voice_sleeptime_core, letta_builtin, letta_files_core,
                    external_langchain, external_composio, external_mcp)

enum class tool_rule_type {
  run_first,
  exit_loop,
  continue_loop,
  conditional,
  constrain_child_tools,
  max_count_per_step,
  parent_last_tool,
  required_before_exit,
  requires_approval
};
BOOST_DESCRIBE_ENUM(tool_rule_type, run_first, exit_loop, continue_loop, conditional, constrain_child_tools,
                    max_count_per_step, parent_last_tool, required_before_exit, requires_approval)

enum class compaction_mode { all, sliding_window, self_compact_all, self_compact_sliding_window };
BOOST_DESCRIBE_ENUM(compaction_mode, all, sliding_window, self_compact_all, self_compact_sliding_window)

enum class provider_category { base, byok };
BOOST_DESCRIBE_ENUM(provider_category, base, byok)

enum class sort_order { asc, desc };
BOOST_DESCRIBE_ENUM(sort_order, asc, desc)

enum class return_status { success, error };
BOOST_DESCRIBE_ENUM(return_status, success, error)

namespace json {
template <> inline constexpr bool is_literal<sort_order> = true;
template <> inline constexpr bool is_literal<return_status> = true;
template <> inline constexpr bool is_literal<compaction_mode> = true;
} // namespace json

} // namespace troupe
