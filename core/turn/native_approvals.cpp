// Replies with calls that wait for somebody, and the answers to them (reference: agent-loop §7, §8).
#include "core/tools/packaging.hpp"
#include "core/turn/native_loop.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

// Texts are packed like those of our own tools; lists of parts are kept as they are.
tool_return client_return(const tool_call& call, tool_return given, std::int64_t context_window,
                          timestamp now, const std::string& zone) {
  auto* text = std::get_if<std::string>(&given.func_response);
  if (!text) return given;
  tools::tool_result result{given.status, boost::json::string(*text), given.stdout_, given.stderr_};
  auto share = static_cast<std::int64_t>(static_cast<double>(context_window) * 0.8);
  return tools::make_return(call, result, std::max<std::int64_t>(5000, share), now, zone);
}

} // namespace

// Nothing of the reply runs. What is not gated goes into an assistant message, the rest into a request for approval.
effects native_loop::store_suspension(model_reply reply, const std::vector<bool>& gated) {
  std::vector<message> fresh;
  auto request = fresh_message(message_role::approval);
  auto rest = fresh_message(message_role::assistant);
  rest.id = reply_id_;
  request.id = in_.tokens ? project::approval_id_for(reply_id_) : env_.make_id<message_id>();
  for (std::size_t i = 0; i < reply.calls.size(); ++i)
    (gated[i] ? request : rest).tool_calls.push_back(reply.calls[i]);
  (rest.tool_calls.empty() ? request : rest).content = std::move(reply.content);
  request.otid = request.id.str();
  request.tool_call_id = request.tool_calls.front().id;
  if (!rest.tool_calls.empty()) fresh.push_back(std::move(rest));
  fresh.push_back(std::move(request));
  go_on_ = false;
  stop_ = stop_reason::requires_approval;
  return commit_step(std::move(fresh));
}

// The step that a request for approval interrupted goes on: no call of the model, the same step id.
effects native_loop::resume_from_approval() {
  auto& request = *context_.back();
  auto* siblings = context_.size() > 1 ? context_[context_.size() - 2].get() : nullptr;
  bool has_siblings = siblings && siblings->role == message_role::assistant &&
                      !siblings->tool_calls.empty() && siblings->step == request.step;
  earlier_returns_.clear();
  std::vector<tool_return> denied;
  for (auto& call : request.tool_calls) {
    auto it = std::find_if(approval_->approvals.begin(), approval_->approvals.end(),
                           [&](auto& a) { return is_about(a, call, request); });
    if (it != approval_->approvals.end()) answer_call(call, *it, denied);
  }
  earlier_returns_.insert(earlier_returns_.end(), denied.begin(), denied.end());
  if (has_siblings)
    for (auto& call : siblings->tool_calls) plan_unchecked(call);
  if (planned_.empty() && earlier_returns_.empty())
    return end_now(stop_reason::invalid_tool_call, std::nullopt);
  return run_planned();
}

void native_loop::answer_call(const tool_call& call, const approval_item& answer,
                              std::vector<tool_return>& denied) {
  auto now = env_.now();
  auto& zone = in_.self.timezone;
  if (answer.is_return)
    earlier_returns_.push_back(client_return(call, answer.returned, in_.llm.context_window, now, zone));
  else if (answer.approve)
    plan_unchecked(call);
  else
    denied.push_back(tools::denied_return(call, answer.reason, now, zone));
}

} // namespace troupe::turn
