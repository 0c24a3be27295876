#include "storage/turns.hpp"

#include "core/tools/packaging.hpp"
#include "core/turn/failure.hpp"
#include "core/turn/inputs.hpp"
#include "storage/agents.hpp"
#include "storage/blocks.hpp"
#include "storage/conversations.hpp"
#include "storage/pending.hpp"
#include "storage/prompts.hpp"
#include "storage/runs.hpp"
#include "storage/shared_tools.hpp"
#include "storage/sleeptime.hpp"
#include "storage/tool_intents.hpp"
#include "storage/tool_searches.hpp"

#include <algorithm>
#include <set>

namespace troupe::storage {

namespace {
error agent_gone(const agent_id& id) {
  return fail(errc::not_found, "Agent with ID " + id.str() + " not found");
}
void add_overlay(turn::input& in, const turn::overlay& extra) {
  for (auto& t : extra.tools) in.tools.push_back(std::make_shared<const tool>(t));
  if (extra.rules) in.self.tool_rules = *extra.rules;
}

// An answer to calls may come again after a compaction that took the calls away.
stored_message last_tool_message(const reader& r, const turn::input& in) {
  auto& given = in.request.messages;
  bool answers = !given.empty() && !std::holds_alternative<message_create>(given.front());
  bool has_words = std::any_of(in.in_context.begin(), in.in_context.end(), [](auto& m) {
    return m->role != message_role::system && m->role != message_role::summary;
  });
  if (!answers || has_words) return nullptr;
  tools::search_query newest;
  newest.roles = {message_role::tool};
  newest.limit = 1;
  auto found = search_history(r, in.self.id, newest).messages;
  return found.empty() ? nullptr : found.front();
}

} // namespace

result<turn::input> load_turn(const reader& r, const turn_order& order) {
  auto a = find_agent(r, order.agent, order.acting.org);
  if (!a) return agent_gone(order.agent);
  turn::input in;
  if (order.conversation) {
    auto c = find_conversation(r, *order.conversation, order.acting.org);
    if (!c) return fail(errc::not_found, "Conversation with id " + order.conversation->str() + " not found");
  }
  in.tools = shared_tools_of(r, *a);
  in.in_context = context_messages(r, {order.agent, order.conversation});
  in.llm = order.llm_override ? *order.llm_override : a->llm;
  if (auto g = sleeptime_group_of(r, *a)) in.heard_by = g->id;
  in.self = turn::traits_of(std::move(*a));
  in.conversation = order.conversation;
  in.acting = order.acting;
  in.run = order.run_row.id;
  in.run_started = order.run_row.created_at;
  in.request = order.request;
  in.how = order.how;
  in.summarizer = order.summarizer;
  in.compaction = order.compaction;
  in.part_of = order.part_of;
  if (in.part_of) add_overlay(in, in.part_of->extra);
  in.tokens = order.tokens;
  in.last_tool = last_tool_message(r, in);
  return in;
}

void end_run(run& row, const turn::run_end& end, timestamp now) {
  row.status = end.status;
  row.stop_reason_ = end.reason;
  for (auto& [key, v] : end.metadata) row.metadata[key] = v;
  row.completed_at = naive_timestamp{now.us};
  row.total_duration_ns = (now.us - row.created_at.us) * 1000;
}

namespace {

void update_activity(transaction& t, const turn::step_commit& s, timestamp now) {
  if (s.messages.empty() && !s.last_stop_reason) return;
  auto activity = activity_of(t, s.agent);
  activity.updated_at = now;
  activity.message_count += static_cast<std::int64_t>(s.messages.size());
  if (s.last_stop_reason) activity.last_stop_reason = s.last_stop_reason;
  put_activity(t, s.agent, activity);
}

} // namespace

namespace {

// The summary goes into the history as the newest message, into the context as its second.
void rewrite_context(transaction& t, const context_key& context, const turn::context_rewrite& r,
                     timestamp now) {
  auto entries = context_entries(t, context);
  std::set<message_id> dropped(r.dropped.begin(), r.dropped.end());
  auto sequence = append_messages(t, {r.summary}, &context); // a conversation lists it too
  std::vector<context_entry> out;
  auto put = [&](context_entry e) {
    e.position = out.size();
    out.push_back(e);
  };
  for (auto& e : entries) {
    if (!dropped.contains(e.id)) put(e);
    if (out.size() == 1) put({0, r.summary->id, sequence});
  }
  if (out.empty()) put({0, r.summary->id, sequence});
  replace_context(t, context, out);
  if (r.recompile) rebuild_system_message(t, context, prompt_time{now});
}

} // namespace

result<void> apply_compaction(transaction& t, const turn::step_commit& s, environment& env) {
  if (!t.get(key(table::agents).add(s.agent))) return agent_gone(s.agent);
  rewrite_context(t, {s.agent, s.conversation}, *s.rewrite, env.now());
  return {};
}

result<void> apply_step(transaction& t, const turn::step_commit& s, environment& env, step_report* report) {
  if (report) *report = {};
  auto row = find_run(t, s.run);
  if (!row || !t.get(key(table::agents).add(s.agent))) return agent_gone(s.agent);
  if (is_terminal(row->status)) return fail(errc::cancelled, "The run has ended");
  drop_tool_intent(t, s.run);
  auto changed = apply_edits(t, s.agent, s.conversation, s.edits, env);
  if (!changed) return changed.error();
  auto now = env.now();
  context_key context{s.agent, s.conversation};
  if (s.autoclear) clear_context(t, context);
  if (!s.messages.empty()) {
    auto first = append_messages(t, s.messages, s.history_only ? nullptr : &context);
    if (row->first_sequence == 0) row->first_sequence = first;
    row->last_sequence = first + s.messages.size() - 1;
  }
  if (s.rewrite) rewrite_context(t, context, *s.rewrite, now);
  if (s.step_) {
    create_step(t, *s.step_);
    row->steps.push_back(s.step_->id);
  }
  for (auto& id : s.tools_used)
    if (std::find(row->tools_used.begin(), row->tools_used.end(), id) == row->tools_used.end())
      row->tools_used.push_back(id);
  if (s.started) row->status = run_status::running;
  step_taken(t, s, now);
  if (s.end) {
    end_run(*row, *s.end, now);
    turn_ended(t, *row, env, report);
  }
  put_run(t, *row);
  update_activity(t, s, now);
  rebuild_system_messages(t, *changed, s.agent, prompt_time{now});
  return {};
}

bool append_between_turns(transaction& t, const context_key& context,
                          const std::vector<stored_message>& notes) {
  auto last = last_of_context(t, context);
  if (last && !last->tool_calls.empty() && last->role != message_role::tool) return false;
  if (notes.empty()) return true;
  append_messages(t, notes, &context);
  count_messages(t, context.agent, std::ssize(notes));
  return true;
}

void close_open_calls(transaction& t, const run& row, const std::string& why, environment& env) {
  context_key context{row.agent, row.conversation};
  auto end = last_of_context(t, context);
  if (!end || end->role != message_role::assistant || end->tool_calls.empty() || end->run != row.id) return;
  auto& last = *end;
  auto m = message_of_run(row, message_role::tool, last.step, env);
  m.name = last.tool_calls.front().name;
  m.tool_call_id = last.tool_calls.front().id;
  for (auto& call : last.tool_calls) {
    tools::tool_result lost;
    lost.status = return_status::error;
    lost.returned = boost::json::string(why);
    tools::add_return(m, tools::make_return(call, lost, 50000, m.created_at, "UTC"));
  }
  append_messages(t, {std::make_shared<const message>(std::move(m))}, &context);
}

std::size_t recover_runs(transaction& t, environment& env, const std::optional<uuid>& context) {
  std::size_t n = 0;
  for (auto& id : active_runs(t)) {
    auto row = find_run(t, id);
    if (!row) {
      t.erase(key(table::runs_active).add(id));
      continue;
    }
    auto owner = row->group ? row->group->value : context_key{row->agent, row->conversation}.owner();
    if (context && owner != *context) continue;
    settle_tool_intent(t, id, env);
    row = find_run(t, id);
    if (!row->group) close_open_calls(t, *row, turn::lost_call, env);
    if (is_sleeptime_run(t, id)) continue;       // waits, or is tried again
    if (!context && is_pending(t, id)) continue; // goes on
    ++n;
    turn::run_end end;
    end.status = run_status::failed;
    end.reason = stop_reason::error;
    auto why = fail(errc::internal, "The server was restarted while this run was in progress. What it had "
                                    "stored is kept; send the message again.");
    if (row->background)
      end.metadata["error"] = turn::error_message(id, turn::shape_of(why, false));
    else
      end.metadata["error"] = boost::json::string(why.message);
    end_run(*row, end, env.now());
    put_run(t, *row);
  }
  return n;
}

} // namespace troupe::storage
