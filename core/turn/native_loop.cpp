#include "core/turn/native_loop.hpp"

#include "core/base/text.hpp"
#include "core/protocol/protocol.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/inner_thoughts.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

std::vector<offered_tool> client_tools_of(const send_request& request) {
  std::vector<offered_tool> out;
  for (auto& t : request.client_tools) {
    json::object none;
    none["type"] = "object";
    none["properties"] = json::object{};
    out.push_back({t.name, t.description.value_or(""), t.parameters.value_or(none), false});
  }
  return out;
}

} // namespace

// Calls of a message tool stay calls.
project::options native_loop::view() const {
  project::options o;
  o.use_assistant_message = false;
  return o;
}

// A tool of the client hides the server's own of the same name.
void native_loop::shape(model_request& r) const {
  std::erase_if(r.tools, [this](auto& t) { return is_client_tool(t.name); });
  for (auto& t : client_tools_of(in_.request)) r.tools.push_back(std::move(t));
  if (thinks_in_arguments()) {
    for (auto& t : r.tools) add_thoughts(t);
    for (auto& m : r.messages) m = with_thoughts_in_arguments(m);
  }
  bool must = rules_.must_call() || in_.self.type != agent_type::letta_v1_agent;
  r.choice.what = must ? tool_choice::kind::required : tool_choice::kind::automatic;
  if (rules_.must_call() && r.tools.size() == 1) r.choice = {tool_choice::kind::named, r.tools[0].name};
  // There such agents are never made to call: whether they do says whether they go on.
  if (in_.self.type == agent_type::letta_v1_agent && in_.llm.model_endpoint_type == "anthropic")
    r.choice = {tool_choice::kind::automatic, {}};
  r.parallel_tool_calls = in_.llm.parallel_tool_calls.value_or(false) && !rules_.constrains();
}

effects native_loop::take_reply(model_reply reply) {
  earlier_returns_.clear();
  if (thinks_in_arguments() && !in_.tokens) take_thoughts(reply);
  if (reply.calls.size() > 1 && !in_.llm.parallel_tool_calls.value_or(false)) reply.calls.resize(1);
  if (reply.calls.empty()) return store_text(std::move(reply));
  if (std::any_of(reply.calls.begin(), reply.calls.end(), [&](auto& c) { return waits_for_giver(c.name); })) {
    std::erase_if(reply.calls, [&](auto& c) { return !waits_for_giver(c.name); });
    return store_open_calls(std::move(reply));
  }
  std::vector<bool> gated;
  for (auto& call : reply.calls) gated.push_back(is_gated(call.name) || is_client_tool(call.name));
  if (std::find(gated.begin(), gated.end(), true) != gated.end())
    return store_suspension(std::move(reply), gated);
  planned_content_ = std::move(reply.content);
  for (auto& call : reply.calls) plan(call);
  return run_planned();
}

void native_loop::take_thoughts(model_reply& reply) const {
  if (reply.calls.empty()) return;
  auto thoughts = read_inner(reply.calls.front().arguments).thoughts;
  if (thoughts.empty()) return;
  std::erase_if(reply.content, [](auto& p) { return std::holds_alternative<text_content>(p); });
  reply.content.emplace_back(text_content{std::move(thoughts), std::nullopt});
}

effects native_loop::store_text(model_reply reply) {
  std::vector<message> fresh;
  bool said = !reply.content.empty();
  if (said) {
    auto m = fresh_message(message_role::assistant);
    m.id = reply_id_;
    m.content = std::move(reply.content);
    fresh.push_back(std::move(m));
  }
  auto uncalled = rules_.uncalled_required(attached_names());
  go_on_ = !uncalled.empty();
  if (go_on_) {
    stop_.reset();
    fresh.push_back(heartbeat("ToolRuleViolated: You must call " + text::join(uncalled, ", ") +
                              " at least once to exit the loop."));
  } else {
    // In tokens only one protocol's clients have ever been told (reference: agent-loop §2.3).
    bool told = !in_.tokens || protocol::kind_of(in_.llm) == protocol::kind::responses;
    bool cut = said && told && reply.finish_reason == "length";
    stop_ = cut ? stop_reason::max_tokens_exceeded : stop_reason::end_turn;
  }
  return commit_step(std::move(fresh));
}

effects native_loop::take_results() {
  std::vector<message> fresh;
  auto called = fresh_message(message_role::assistant);
  called.id = reply_id_;
  called.content = planned_content_;
  auto results = fresh_message(message_role::tool);
  results.tool_returns = earlier_returns_;
  step_tools_used_.clear();
  for (auto& p : planned_) {
    called.tool_calls.push_back(p.invocation.call);
    tools::add_return(results, returned(p, results.created_at));
    auto t = find_tool(p.invocation.call.name);
    if (t && !p.violates && t->id != tool_id{}) step_tools_used_.push_back(t->id);
  }
  if (!planned_.empty()) results.name = planned_.front().invocation.call.name;
  if (answers_open_calls()) results.name = context_.back()->tool_calls.front().name;
  if (!results.tool_returns.empty()) results.tool_call_id = results.tool_returns.front().tool_call_id;
  decide_after_calls();
  if (!resumed_) fresh.push_back(std::move(called)); // a resumed reply is stored already
  fresh.push_back(std::move(results));
  return commit_step(std::move(fresh));
}

// Any call continues, failed or not, but for tools that end the turn; several at once always continue unless one of
// them ends it. Denials and returns of clients force it on.
void native_loop::decide_after_calls() {
  bool invalid = std::any_of(planned_.begin(), planned_.end(), [](auto& p) { return p.invalid; });
  if (invalid && planned_.size() == 1) {
    go_on_ = false;
    stop_ = stop_reason::invalid_tool_call;
    return;
  }
  bool ends = false;
  for (auto& p : planned_) {
    if (p.violates || p.invalid) continue;
    rules_.called(p.invocation.call.name);
    ends |= rules_.ends_turn(p.invocation.call.name);
  }
  bool forced = !earlier_returns_.empty();
  bool missing = !rules_.uncalled_required(attached_names()).empty();
  go_on_ = !ends || missing || forced;
  stop_.reset();
  if (!go_on_) stop_ = stop_reason::tool_rule;
}

} // namespace troupe::turn
