// The loop of memgpt_agent, memgpt_v2_agent, react_agent, workflow_agent, split_thread_agent and the voice agents
// (reference: agent-loop §2.7): the model must call exactly one tool a step, what it says goes through send_message,
// its thoughts and its wish to go on (a heartbeat) are arguments of the call.
#pragma once

#include "core/turn/step_loop.hpp"

namespace troupe::turn {

class older_loop final : public step_loop {
public:
  using step_loop::step_loop;
  project::options view() const override;

private:
  std::unique_ptr<step_loop> copy() const override { return std::make_unique<older_loop>(*this); }
  effects take_reply(model_reply reply) override;
  effects take_results() override;
  effects resume_from_approval() override;
  void shape(model_request& r) const override;
  bool shows(const message& m) const override { return m.role != message_role::user; }
  bool shows_beside_tokens(const message& m) const override;
  std::optional<project::inner_view> inner() const override;
  bool says_why_late() const override { return true; }
  bool takes_prefilled() const override { return false; }
  bool counts_context() const override { return false; }
  bool keeps_boot_messages() const override { return true; }

  effects store_suspension(const tool_call& call);
  effects store_denial(const tool_call& call, const std::optional<std::string>& reason);
  void decide();

  std::vector<content_part> content_; // of the present reply: its thoughts
  bool wants_heartbeat_ = false;      // the model asked to go on
  std::string reason_;                // why the loop goes on; empty: the heartbeat's own
};

} // namespace troupe::turn
