// Replies with calls that wait for somebody, and the answers to them (reference: agent-loop §7, §8).
#include "core/base/text.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/native_loop.hpp"

#include <algorithm>
#include <limits>

namespace troupe::turn {

namespace {

// Cuts the message in a packed return to `most` characters.
void cut_packed(std::string& packed, std::size_t most) {
  auto v = json::try_parse(packed);
  auto* said = v && v->is_object() ? v->get_object().if_contains("message") : nullptr;
  if (!said || !said->is_string()) return;
  std::string text(json::view(said->get_string()));
  auto length = text::length(text);
  if (length <= most) return;
  *said = boost::json::string(std::string(text::prefix(text, most)) + "... [truncated " +
                              std::to_string(length - most) + " chars]");
  packed = json::print_python(*v);
}

// Texts are packed like those of our own tools; lists of parts are kept as they are.
tool_return client_return(const tool_call& call, tool_return given, std::int64_t context_window,
                          timestamp now, const std::string& zone) {
  auto* text = std::get_if<std::string>(&given.func_response);
  if (!text) return given;
  tools::tool_result result{given.status, boost::json::string(*text), given.stdout_, given.stderr_};
  auto out = tools::make_return(call, result, std::numeric_limits<std::int64_t>::max(), now, zone);
  auto share = static_cast<std::int64_t>(static_cast<double>(context_window) * 0.8);
  cut_packed(std::get<std::string>(out.func_response),
             static_cast<std::size_t>(std::max<std::int64_t>(5000, share)));
  return out;
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
  auto& answers = approval_->approvals;
  for (auto& a : answers) { // what clients return stays in their order
    auto it = std::find_if(request.tool_calls.begin(), request.tool_calls.end(),
                           [&](auto& call) { return a.is_return && is_about(a, call, request); });
    if (it != request.tool_calls.end())
      earlier_returns_.push_back(
          client_return(*it, a.returned, in_.llm.context_window, env_.now(), in_.self.timezone));
  }
  for (auto& call : request.tool_calls) {
    auto it =
        std::find_if(answers.begin(), answers.end(), [&](auto& a) { return is_about(a, call, request); });
    if (it == answers.end() || it->is_return) continue;
    if (it->approve)
      plan_unchecked(call);
    else
      denied.push_back(tools::denied_return(call, it->reason, env_.now(), in_.self.timezone));
  }
  earlier_returns_.insert(earlier_returns_.end(), denied.begin(), denied.end());
  if (has_siblings)
    for (auto& call : siblings->tool_calls) plan_unchecked(call);
  if (planned_.empty() && earlier_returns_.empty())
    return end_now(stop_reason::invalid_tool_call, std::nullopt);
  return run_planned();
}

} // namespace troupe::turn
