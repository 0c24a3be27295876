// The loop of letta_v1_agent and sleeptime_agent (reference: agent-loop §2): plain text ends the turn, any tool call
// continues it, no heartbeats.
//
//   started -> [call_model] -> model_replied -> [run_tools] -> tools_finished -> [commit] -> committed -> ...
//
// The last commit of a turn also ends its run.
#pragma once

#include "core/turn/inputs.hpp"
#include "core/turn/tool_rules.hpp"
#include "core/turn/types.hpp"

namespace troupe::turn {

class native_loop final : public machine {
public:
  native_loop(input in, environment& env);
  effects handle(event e) override;

private:
  enum class phase { idle, calling_model, running_tools, committing, finished };

  effects on(started);
  effects on(model_replied e);
  effects on(model_failed e);
  effects on(tools_finished e);
  effects on(committed);
  effects on(commit_failed e);
  effects on(cancel);

  // -- the steps of a step
  effects begin_step();
  effects resume_from_approval();
  effects plan_calls(model_reply reply);
  effects store_text(model_reply reply);
  effects store_suspension(model_reply reply, const std::vector<bool>& gated);
  effects run_planned();
  effects store_results();
  effects commit_step(std::vector<message> fresh);

  // -- ends
  effects end_now(std::optional<stop_reason> reason, std::optional<error> failure);
  run_end make_end() const;
  usage_statistics usage() const;

  // -- pieces
  model_request make_request();
  std::vector<offered_tool> offer_tools(const std::vector<std::string>& allowed) const;
  std::vector<std::string> attached_names() const;
  const tool* find_tool(const std::string& name) const;
  bool is_gated(const std::string& name) const;
  bool is_client_tool(const std::string& name) const;
  std::optional<json::value> last_tool_output() const;
  void begin_step_record();
  void count_usage(const token_usage& u, std::int64_t duration_ns);
  message fresh_message(message_role role) const;
  message heartbeat(const std::string& reason) const;
  void decide_after_calls();
  tools::tool_result refusal(const std::string& name) const;

  input in_;
  environment& env_;
  tool_rules rules_;
  phase phase_ = phase::idle;
  std::int64_t iteration_ = 0;

  std::vector<stored_message> context_; // what the model sees and is stored
  std::vector<stored_message> inputs_;  // of the request, not yet stored
  std::optional<message> approval_;     // an answer, not yet stored

  std::optional<step> step_;
  std::int64_t step_started_ns_ = 0;
  message_id reply_id_;
  std::vector<std::string> allowed_; // tools offered in this step

  // The calls of the present reply, in its order.
  struct planned {
    tool_invocation invocation;
    std::optional<tools::tool_result> result; // set from the start where the call is refused
    bool violates = false;
  };
  std::vector<planned> planned_;
  std::vector<content_part> planned_content_;
  std::vector<tool_return> earlier_returns_; // of a resumed approval: client returns, then denials
  bool resumed_ = false;
  std::vector<tools::memory_edit> edits_;
  std::vector<tool_id> step_tools_used_;

  // What the step decided.
  bool go_on_ = false;
  std::optional<stop_reason> stop_;
  std::vector<stored_message> uncommitted_;
  std::vector<stored_message> to_emit_;
  int conflicts_ = 0;
  bool cancelled_ = false;
  bool visible_ = false;
  bool first_commit_ = true;

  // Sums over the request.
  token_usage total_;
  std::int64_t calls_of_model_ = 0;
  std::int64_t steps_ = 0;
  std::optional<std::int64_t> context_tokens_;
  std::optional<error> failure_;
};

} // namespace troupe::turn
