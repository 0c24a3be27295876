#include "storage/cancel.hpp"

#include "core/tools/packaging.hpp"
#include "storage/agents.hpp"
#include "storage/messages.hpp"
#include "storage/sleeptime.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

constexpr const char* denied_because = "The user cancelled the request, so the tool call was denied.";

// An answer that denies every call, and a return for each of them and of the calls beside them, the gated ones first.
void deny_pending(transaction& t, const run& row, environment& env) {
  context_key context{row.agent, row.conversation};
  auto messages = context_messages(t, context);
  if (messages.empty() || !is_approval_request(*messages.back())) return;
  auto& request = *messages.back();
  auto a = find_agent(t, row.agent);
  auto zone = a ? a->timezone : std::string("UTC");
  auto answer = message_of_run(row, message_role::approval, request.step, env);
  auto returns = message_of_run(row, message_role::tool, request.step, env);
  answer.model = returns.model = request.model;
  auto deny = [&](const tool_call& call) {
    returns.tool_returns.push_back(tools::denied_return(call, denied_because, returns.created_at, zone));
  };
  for (auto& call : request.tool_calls) {
    answer.approvals.push_back({false, call.id, false, denied_because, {}});
    deny(call);
  }
  auto* siblings = messages.size() > 1 ? messages[messages.size() - 2].get() : nullptr;
  if (siblings && siblings->role == message_role::assistant && siblings->step == request.step)
    for (auto& call : siblings->tool_calls) deny(call);
  returns.tool_call_id = returns.tool_returns.front().tool_call_id;
  append_messages(t,
                  {std::make_shared<const message>(std::move(answer)),
                   std::make_shared<const message>(std::move(returns))},
                  &context);
}

bool goes_on(const run& row) { return !is_terminal(row.status); }

} // namespace

std::vector<run_id> runs_to_cancel(const reader& r, const agent_id& agent,
                                   const std::optional<conversation_id>& conversation, bool every_thread) {
  std::vector<run_id> out;
  for (auto& id : active_runs(r)) {
    auto row = find_run(r, id);
    if (row && row->agent == agent && (every_thread || row->conversation == conversation)) out.push_back(id);
  }
  if (!out.empty() || !every_thread) return out;
  run_query newest;
  newest.agents = {agent};
  newest.background = false;
  newest.limit = 1;
  auto a = find_agent(r, agent);
  for (auto& row : a ? list_runs(r, a->organization_id, newest) : std::vector<run>{}) out.push_back(row.id);
  return out;
}

result<void> cancel_run(transaction& t, const run_id& id, environment& env) {
  auto row = find_run(t, id);
  if (!row) return fail(errc::not_found, "Run not found");
  bool pending = row->stop_reason_ == stop_reason::requires_approval;
  if (!goes_on(*row) && !pending) return {};
  auto now = env.now();
  if (goes_on(*row)) {
    row->completed_at = naive_timestamp{now.us};
    row->total_duration_ns = (now.us - row->created_at.us) * 1000;
  }
  row->status = run_status::cancelled;
  row->stop_reason_ = stop_reason::cancelled;
  run_ended(t, *row);
  put_run(t, *row);
  if (pending) deny_pending(t, *row, env);
  auto activity = activity_of(t, row->agent);
  activity.last_stop_reason = stop_reason::cancelled;
  activity.updated_at = now;
  put_activity(t, row->agent, activity);
  return {};
}

} // namespace troupe::storage
