// The loop of letta_v1_agent and sleeptime_agent (reference: agent-loop §2): plain text ends the turn, any tool call
// continues it, no heartbeats.
#pragma once

#include "core/turn/step_loop.hpp"

namespace troupe::turn {

class native_loop final : public step_loop {
public:
  using step_loop::step_loop;
  project::options view() const override;

private:
  std::unique_ptr<step_loop> copy() const override { return std::make_unique<native_loop>(*this); }
  effects take_reply(model_reply reply) override;
  effects take_results() override;
  effects resume_from_approval() override;
  void shape(model_request& r) const override;
  bool shows(const message&) const override { return true; }

  // sleeptime agents write their thoughts into the arguments of their calls.
  bool thinks_in_arguments() const {
    return in_.llm.put_inner_thoughts_in_kwargs.value_or(false) &&
           in_.self.type != agent_type::letta_v1_agent;
  }
  void take_thoughts(model_reply& reply) const;
  effects store_text(model_reply reply);
  effects store_suspension(model_reply reply, const std::vector<bool>& gated);
  void decide_after_calls();

  std::vector<content_part> planned_content_;
  std::vector<tool_return> earlier_returns_; // of a resumed approval: client returns, then denials
};

} // namespace troupe::turn
