#include "core/turn/older_loop.hpp"

#include "core/base/text.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/arguments.hpp"
#include "core/turn/inner_thoughts.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

constexpr const char* no_call = "No tool calls found in response, model must make a tool call";

bool is_reasoning(const content_part& p) {
  return !std::holds_alternative<text_content>(p) && !std::holds_alternative<image_content>(p);
}

} // namespace

// Thoughts are text here, and calls of send_message are what the agent says; the names a client may give for that tool
// are for listings only.
project::options older_loop::view() const {
  project::options o;
  o.use_assistant_message = in_.request.use_assistant_message;
  o.text_is_assistant_message = false;
  return o;
}

std::optional<project::inner_view> older_loop::inner() const {
  project::inner_view out;
  out.thoughts = in_.llm.put_inner_thoughts_in_kwargs.value_or(false);
  auto o = view();
  if (o.use_assistant_message && !is_gated(o.assistant_message_tool_name))
    out.speaks = o.assistant_message_tool_name;
  return out;
}

// What send_message returned is not shown where its text was.
bool older_loop::shows_beside_tokens(const message& m) const {
  auto o = view();
  bool said = o.use_assistant_message && !resumed_ && m.name == o.assistant_message_tool_name;
  return m.role == message_role::tool && !said;
}

void older_loop::shape(model_request& r) const {
  bool thoughts = in_.llm.put_inner_thoughts_in_kwargs.value_or(false);
  for (auto& t : r.tools) {
    if (t.name == "send_message") shape_message(t, in_.self.response_format);
    if (!rules_.ends_turn(t.name)) add_heartbeat(t);
    if (thoughts) add_thoughts(t);
  }
  if (thoughts)
    for (auto& m : r.messages) m = with_thoughts_in_arguments(m);
  r.choice.what = tool_choice::kind::required;
  if (r.tools.size() == 1) r.choice = {tool_choice::kind::named, r.tools[0].name};
  r.response_format.reset(); // it went into send_message
}

effects older_loop::take_reply(model_reply reply) {
  if (reply.calls.empty()) return end_now(std::nullopt, llm_failure(errc::llm_error, "LLMError", no_call));
  auto call = std::move(reply.calls.front());
  auto given = read_inner(call.arguments);
  content_ = std::move(reply.content);
  std::erase_if(content_, [&](auto& p) { return !is_reasoning(p) && !given.thoughts.empty(); });
  if (!given.thoughts.empty() && content_.empty())
    content_.emplace_back(text_content{given.thoughts, std::nullopt});
  wants_heartbeat_ = given.heartbeat;
  if (waits_for_giver(call.name)) {
    model_reply open;
    open.content = content_;
    open.calls.push_back(std::move(call));
    return store_open_calls(std::move(open));
  }
  if (is_gated(call.name)) return store_suspension(call);
  plan(call);
  return run_planned();
}

effects older_loop::store_suspension(const tool_call& call) {
  auto request = fresh_message(message_role::approval);
  request.id = in_.tokens ? project::approval_id_for(reply_id_) : env_.make_id<message_id>();
  request.content = content_;
  request.tool_calls.push_back({call.id, call.name, with_heartbeat(call.arguments, wants_heartbeat_)});
  request.otid = request.id.str();
  request.tool_call_id = call.id;
  go_on_ = false;
  stop_ = stop_reason::requires_approval;
  std::vector<message> fresh;
  fresh.push_back(std::move(request));
  return commit_step(std::move(fresh));
}

effects older_loop::take_results() {
  auto& p = planned_.front();
  decide();
  std::vector<message> fresh;
  auto called = fresh_message(message_role::assistant);
  called.id = reply_id_;
  called.content = content_;
  called.tool_calls.push_back(p.invocation.call);
  called.tool_calls.front().arguments = with_heartbeat(p.invocation.call.arguments, go_on_);
  called.tool_call_id = p.invocation.call.id;
  auto result = fresh_message(message_role::tool);
  result.name = p.invocation.call.name;
  result.tool_call_id = p.invocation.call.id;
  tools::add_return(result, returned(p, result.created_at));
  step_tools_used_.clear();
  auto t = find_tool(p.invocation.call.name);
  if (t && !p.violates && t->id != tool_id{}) step_tools_used_.push_back(t->id);
  bool well = p.result->status == return_status::success;
  if (!resumed_) fresh.push_back(std::move(called)); // a resumed reply is stored already
  fresh.push_back(std::move(result));
  if (go_on_) {
    if (reason_.empty())
      reason_ = well ? "Function called using request_heartbeat=true, returning control"
                     : "Function call failed, returning control";
    fresh.push_back(heartbeat(reason_));
  }
  return commit_step(std::move(fresh));
}

void older_loop::decide() {
  auto& p = planned_.front();
  auto& name = p.invocation.call.name;
  go_on_ = wants_heartbeat_;
  reason_.clear();
  stop_.reset();
  if (p.violates) {
    go_on_ = true;
    reason_ = "Continuing: tool rule violation.";
  } else {
    rules_.called(name);
    if (rules_.ends_turn(name)) {
      if (go_on_) stop_ = stop_reason::tool_rule;
      go_on_ = false;
    } else if (rules_.has_children(name)) {
      go_on_ = true;
      reason_ = "Continuing: child tool rule.";
    } else if (rules_.continues(name)) {
      go_on_ = true;
      reason_ = "Continuing: continue tool rule.";
    }
  }
  bool whole = in_.how == mode::blocking || in_.how == mode::async; // streams know no last step
  if (whole && is_last_step()) {
    go_on_ = false;
    stop_ = stop_reason::max_steps;
    return;
  }
  auto uncalled = rules_.uncalled_required(attached_names());
  if (go_on_ || uncalled.empty()) return;
  go_on_ = true;
  stop_.reset();
  reason_ = "Continuing, user expects these tools: [" + text::join(uncalled, ", ") + "] to be called still.";
}

// -- approvals ------------------------------------------------------------------------------------
effects older_loop::resume_from_approval() {
  auto& request = *context_.back();
  auto& call = request.tool_calls.front();
  auto it = std::find_if(approval_->approvals.begin(), approval_->approvals.end(),
                         [&](auto& a) { return is_about(a, call, request); });
  if (it != approval_->approvals.end() && it->is_return && answers_open_calls()) {
    plan_unchecked(call);
    planned_.front().result = tools::tool_result{
        it->returned.status, boost::json::string(std::get<std::string>(it->returned.func_response)), {}, {}};
    wants_heartbeat_ = true;
    return run_planned();
  }
  if (it == approval_->approvals.end() || it->is_return)
    return end_now(stop_reason::invalid_tool_call, std::nullopt);
  if (!it->approve) return store_denial(call, it->reason);
  wants_heartbeat_ = read_inner(call.arguments).heartbeat;
  plan_unchecked(call);
  return run_planned();
}

effects older_loop::store_denial(const tool_call& call, const std::optional<std::string>& reason) {
  auto result = fresh_message(message_role::tool);
  result.name = call.name;
  result.tool_call_id = call.id;
  tools::add_return(result, tools::denied_return(call, reason, result.created_at, in_.self.timezone));
  go_on_ = true;
  stop_.reset();
  std::vector<message> fresh;
  fresh.push_back(std::move(result));
  fresh.push_back(heartbeat("Continuing: user denied request to call tool."));
  return commit_step(std::move(fresh));
}

} // namespace troupe::turn
