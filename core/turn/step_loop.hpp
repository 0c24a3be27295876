// What both agent loops share (reference: agent-loop §2): a step is one call of the model, its tools and one batch.
//
//   started -> [call_model] -> model_replied -> [run_tools] -> tools_finished -> [commit] -> committed -> ...
//
// The last commit of a turn also ends its run. What a reply means, what is offered to the model and what is written
// about the tools is said by the loop's own class.
#pragma once

#include "core/turn/compaction.hpp"
#include "core/turn/inputs.hpp"
#include "core/turn/tool_rules.hpp"
#include "core/turn/types.hpp"

namespace troupe::turn {

class step_loop : public machine {
public:
  step_loop(input in, environment& env);
  effects handle(event e) final;
  model_request request() const final;

protected:
  // -- what a loop says itself
  virtual effects take_reply(model_reply reply) = 0;
  virtual effects take_results() = 0; // every planned call has a result
  virtual effects resume_from_approval() = 0;
  virtual void shape(model_request& r) const = 0; // choice of tools, what is offered
  virtual bool shows(const message& m) const = 0; // what a blocking answer holds of a step
  virtual bool keeps_boot_messages() const {
    return false;
  } // where the context is cleared with every request
  virtual bool shows_beside_tokens(const message& m) const { return m.role == message_role::tool; }
  virtual std::optional<project::inner_view> inner() const { return std::nullopt; } // of its token streams
  virtual bool says_why_late() const {
    return false;
  } // streams that fail in the middle fail as at their start
  virtual bool takes_prefilled() const { return true; } // the rules may fix arguments
  virtual bool counts_context() const { return true; }  // usage tells the size of the context

  // One call of the present reply, in its order.
  struct planned {
    tool_invocation invocation;
    std::optional<tools::tool_result> result; // set from the start where the call is refused
    bool violates = false;                    // a rule forbids the call
    bool invalid = false;                     // what the rules fix does not fit the tool
    bool once = false;                        // had effects outside: is not run again
    std::vector<tools::block_change> blocks;  // what it did to them
    std::vector<tell> tells;                  // messages that it leaves for others
  };

  // -- the steps of a step
  effects begin_step();
  effects run_planned();
  effects commit_step(std::vector<message> fresh);
  effects end_now(std::optional<stop_reason> reason, std::optional<error> failure);

  // -- pieces
  void fill_in(planned& p, const shared_tool& t) const;
  void plan(const tool_call& call);           // with the rules checked and fixed arguments put in
  void plan_unchecked(const tool_call& call); // of an approved call
  std::vector<std::string> attached_names() const;
  shared_tool find_tool(const std::string& name) const; // nothing where there is none
  bool is_gated(const std::string& name) const { return rules_.needs_approval(name); }
  bool is_client_tool(const std::string& name) const;
  // The turn ends with calls of this tool; whoever gave the errand answers them in a turn that follows.
  bool waits_for_giver(const std::string& name) const;
  effects store_open_calls(model_reply reply);
  bool answers_open_calls() const {
    return approval_ && !context_.empty() && !is_approval_request(*context_.back());
  }
  message fresh_message(message_role role) const;
  message heartbeat(const std::string& reason) const;
  tool_return returned(const planned& p, timestamp now) const;
  // Runs of streams show that they are under way; the others stay `created` until their end.
  bool shows_running() const noexcept { return has_events(in_.how) || in_.part_of.has_value(); }
  bool is_last_step() const noexcept { return iteration_ + 1 >= in_.request.max_steps; }
  const std::vector<std::string>& allowed() const noexcept { return allowed_; }

  input in_;
  environment& env_;
  tool_rules rules_;
  std::vector<stored_message> context_; // what the model sees and is stored
  rare<message> approval_;              // an answer, not yet stored
  message_id reply_id_;                 // under which the present reply is stored
  std::optional<step> step_;
  std::vector<planned> planned_;
  bool resumed_ = false; // the step goes on after an approval
  std::vector<tool_id> step_tools_used_;

  // What the step decided.
  bool go_on_ = false;
  std::optional<stop_reason> stop_;

private:
  enum class phase {
    idle,
    calling_model,
    running_tools,
    committing,
    compacting, // waits for a summary
    storing_compaction,
    finished
  };

  effects on(started);
  effects on(model_replied e);
  effects on(model_failed e);
  effects on(tools_finished e);
  effects on(committed e);
  effects on(commit_failed e);
  effects on(cancel);
  effects on(const part_ended&) { return {}; } // of groups only

  virtual std::unique_ptr<step_loop> copy() const = 0;
  std::optional<step_commit> batch_if_lost() const;
  effects ask_model();
  std::optional<json::value> last_tool_output() const;
  void begin_step_record();
  void count_usage(token_usage u, std::int64_t duration_ns);
  tools::tool_result refusal(const std::string& name) const;
  void close_failed_step();
  run_end make_end() const;
  usage_statistics usage() const;

  // -- compaction
  std::int64_t compaction_limit() const;
  bool is_near_the_end() const;
  bool can_compact_for(const error& why) const;
  effects begin_compaction(std::string trigger);
  effects continue_compaction();
  effects store_compaction();
  effects compacted();
  effects after_compaction();
  effects compaction_failed();

  phase phase_ = phase::idle;
  std::int64_t iteration_ = 0;
  std::vector<stored_message> inputs_; // of the request, not yet stored
  std::vector<std::string> allowed_;   // tools offered in this step
  std::int64_t step_started_ns_ = 0;
  std::vector<tools::memory_edit> edits_;
  tool_rules rules_before_; // as they were before the present calls

  std::vector<stored_message> uncommitted_;
  std::vector<stored_message> to_emit_;
  int conflicts_ = 0;
  bool cancelled_ = false;
  bool visible_ = false;
  bool answered_by_giver_ = false; // the step holds returns that no tool of ours gave
  bool first_commit_ = true;

  rare<compactor> compactor_;
  std::optional<compaction_stats> stats_;
  stored_message summary_;
  std::optional<error> interrupted_; // what the model said when the context was too long for it
  bool end_after_compaction_ = false;
  int compactions_ = 0;          // of this step
  std::int64_t last_tokens_ = 0; // of the last call of the model

  // Sums over the request.
  token_usage total_;
  std::int64_t calls_of_model_ = 0;
  std::optional<std::int64_t> context_tokens_;
  std::optional<error> failure_;
  std::optional<std::vector<std::string>> background_runs_; // that the end of the turn set off
};

} // namespace troupe::turn
