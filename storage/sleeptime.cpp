#include "storage/sleeptime.hpp"

#include "storage/agents.hpp"
#include "storage/groups.hpp"
#include "storage/runs.hpp"
#include "storage/voice_memories.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

constexpr const char* run_type = "sleeptime_agent_send_message_async";

context_key thread_of(const sleeptime_job& j) { return {j.agent, j.conversation}; }
key job_key(const sleeptime_job& j) {
  return key(table::sleeptime_jobs).add(j.group).add(j.companion).add(thread_of(j).owner());
}

key due_key(const sleeptime_job& j, timestamp due) {
  return key(table::sleeptime_due).add(due).add(j.group).add(j.companion).add(thread_of(j).owner());
}

std::optional<sleeptime_job> job_at(const reader& r, std::string_view place) {
  return load<sleeptime_job>(r, key(table::sleeptime_jobs).str() + std::string(place));
}

std::optional<sleeptime_job> job_of_run(const reader& r, const run_id& id) {
  auto place = r.get(key(table::sleeptime_runs).add(id));
  return place ? job_at(r, std::string(*place)) : std::nullopt;
}

void erase_job(transaction& t, const sleeptime_job& j) {
  if (auto due = j.due()) t.erase(due_key(j, *due));
  t.erase(job_key(j));
}

} // namespace

std::optional<timestamp> sleeptime_job::due() const {
  if (working) return working->not_before;
  if (!waiting.empty()) return begins_at;
  return std::nullopt;
}

void sleeptime_job::decide_share(timestamp now) {
  if (!working && !waiting.empty() && begins_at <= now && !next) next = share();
}

std::string place_of(const sleeptime_job& j) { return job_key(j).str().substr(1); }

// -- records --------------------------------------------------------------------------------------
std::optional<sleeptime_job> find_job(const reader& r, const sleeptime_job& like) {
  return load<sleeptime_job>(r, job_key(like));
}

std::vector<sleeptime_job> jobs_of_group(const reader& r, const group_id& g) {
  std::vector<sleeptime_job> out;
  r.scan_prefix(key(table::sleeptime_jobs).add(g), reader::direction::forward, [&](auto k, auto) {
    if (auto j = load<sleeptime_job>(r, k)) out.push_back(std::move(*j));
    return true;
  });
  return out;
}

std::vector<sleeptime_job> jobs_of_org(const reader& r, const org_id& org) {
  std::vector<sleeptime_job> out;
  r.scan_prefix(key(table::sleeptime_jobs), reader::direction::forward, [&](auto k, auto) {
    if (auto j = load<sleeptime_job>(r, k); j && j->acting.org == org) out.push_back(std::move(*j));
    return true;
  });
  return out;
}

void due_jobs(const reader& r, timestamp now, const std::function<bool(sleeptime_job)>& visit) {
  auto all = key(table::sleeptime_due);
  r.scan(all, key(all).add(timestamp{now.us + 1}), reader::direction::forward, [&](std::string_view k, auto) {
    auto j = job_at(r, k.substr(1 + 8));
    return !j || visit(std::move(*j));
  });
}

std::optional<timestamp> next_due(const reader& r) {
  std::optional<timestamp> out;
  r.scan_prefix(key(table::sleeptime_due), reader::direction::forward, [&](auto k, auto) {
    out = timestamp{static_cast<std::int64_t>(number_at(k, 1))};
    return false;
  });
  return out;
}

bool is_sleeptime_run(const reader& r, const run_id& id) {
  return r.get(key(table::sleeptime_runs).add(id)).has_value();
}

void put_job(transaction& t, const sleeptime_job& j) {
  if (auto before = find_job(t, j); before && before->due()) t.erase(due_key(*before, *before->due()));
  save(t, job_key(j), j);
  if (auto due = j.due()) t.put(due_key(j, *due), {});
  auto place = [&](const run_id& id) { t.put(key(table::sleeptime_runs).add(id), place_of(j)); };
  for (auto& id : j.waiting) place(id);
  if (!j.working) return;
  place(j.working->run);
  for (auto& id : j.working->with) place(id);
}

// -- triggers -------------------------------------------------------------------------------------
namespace {

// Where a companion that knows nothing yet begins: with what the agent itself still sees.
std::uint64_t before_context(const reader& r, const context_key& thread) {
  auto entries = context_entries(r, thread);
  std::uint64_t first = 0;
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (first == 0 || entries[i].sequence < first) first = entries[i].sequence;
  return first == 0 ? 0 : first - 1;
}

} // namespace

run companion_run(const sleeptime_job& j, environment& env) {
  run row;
  row.id = env.make_id<run_id>();
  row.created_at = env.now();
  row.agent = j.companion;
  row.organization_id = j.acting.org;
  row.metadata["run_type"] = run_type;
  row.metadata["agent_id"] = boost::json::string(j.companion.str());
  return row;
}

namespace {

run_id trigger(transaction& t, const group& g, sleeptime_job j, std::uint64_t upto, environment& env) {
  if (auto known = find_job(t, j))
    j = std::move(*known);
  else
    j.accepted = before_context(t, thread_of(j));
  auto row = companion_run(j, env);
  create_run(t, row);
  if (j.waiting.empty()) j.first_trigger = row.created_at;
  j.waiting.push_back(row.id);
  j.upto = upto;
  j.begins_at = sleeptime::begins_at(g, j.first_trigger, row.created_at);
  j.decide_share(row.created_at);
  put_job(t, j);
  return row.id;
}

} // namespace

std::optional<group> sleeptime_group_of(const reader& r, const agent& a) {
  if (!a.enable_sleeptime.value_or(false)) return std::nullopt;
  auto g = managed_group(r, a.id);
  return g && g->manager_type_ == manager_type::sleeptime ? g : std::nullopt;
}

namespace {

// A voice agent's companion is told when the context has become too long.
bool is_time(const reader& r, group& g, const context_key& thread) {
  if (g.manager_type_ == manager_type::sleeptime) return sleeptime::count_turn(g);
  auto length = std::ssize(context_entries(r, thread)) - 1;
  return g.max_message_buffer_length && length > *g.max_message_buffer_length;
}

void tell_companions(transaction& t, const run& row, environment& env, step_report* report) {
  auto g = managed_group(t, row.agent);
  if (!g || !is_sleeptime(g->manager_type_)) return;
  auto a = find_agent(t, row.agent);
  auto last = load_message(t, {row.agent, row.last_sequence});
  if (!a->enable_sleeptime.value_or(false) || !last || !sleeptime::is_complete(row.status, row.stop_reason_))
    return;
  std::vector<std::string> ids;
  bool now = is_time(t, *g, {row.agent, row.conversation});
  if (now) g->last_processed_message_id = last->id;
  save_group(t, *g);
  actor acting{last->created_by_id.value_or(default_user_id()), row.organization_id};
  for (auto& companion : g->agent_ids) {
    if (!now || !find_agent(t, companion)) continue;
    sleeptime_job j;
    j.group = g->id;
    j.agent = row.agent;
    j.conversation = row.conversation;
    j.companion = companion;
    j.acting = acting;
    ids.push_back(trigger(t, *g, std::move(j), row.last_sequence, env).str());
  }
  bool says_none = !is_native_loop(a->type) && a->type != agent_type::voice_convo_agent; // as clients know it
  if (report && (says_none || !ids.empty())) report->run_ids = std::move(ids);
}

// -- ends -----------------------------------------------------------------------------------------
// The run of a trigger that another run covered, or nobody will work on.
void end_beside(transaction& t, const run_id& id, const run& like, const std::optional<run_id>& into) {
  t.erase(key(table::sleeptime_runs).add(id));
  auto row = find_run(t, id);
  if (!row || is_terminal(row->status)) return;
  row->status = like.status;
  row->stop_reason_ = like.stop_reason_;
  row->completed_at = like.completed_at;
  if (like.completed_at) row->total_duration_ns = (like.completed_at->us - row->created_at.us) * 1000;
  if (into) row->metadata["coalesced_into"] = boost::json::string(into->str());
  if (auto* why = json::find(like.metadata, "error")) row->metadata["error"] = *why;
  put_run(t, *row);
}

void settle(transaction& t, sleeptime_job j, const run& row) {
  auto done = std::move(*j.working);
  j.working.reset();
  t.erase(key(table::sleeptime_runs).add(row.id));
  for (auto& id : done.with) end_beside(t, id, row, row.id);
  auto* why = json::find(row.metadata, "error");
  if (row.status == run_status::completed) {
    j.accepted = done.upto;
    j.last_error.reset();
  } else if (why && why->is_string()) {
    j.last_error = std::string(json::view(why->get_string()));
  }
  if (row.completed_at) j.decide_share(timestamp{row.completed_at->us});
  put_job(t, j);
}

void show_result(const reader& r, run& row) {
  auto companion = find_agent(r, row.agent);
  if (row.status != run_status::completed || !companion) return;
  row.metadata["result"] = sleeptime::result_of(
      messages_of_run(r, row.agent, row.id, row.first_sequence, row.last_sequence), steps_of(r, row),
      row.stop_reason_.value_or(stop_reason::end_turn), is_native_loop(companion->type));
}

} // namespace

void turn_ended(transaction& t, run& row, environment& env, step_report* report) {
  auto j = job_of_run(t, row.id);
  if (!j) return tell_companions(t, row, env, report);
  if (!j->working || j->working->run != row.id) return run_ended(t, row);
  show_result(t, row);
  settle(t, std::move(*j), row);
}

void step_taken(transaction& t, const turn::step_commit& s, timestamp now) {
  if (s.tools_used.empty()) return;
  auto j = job_of_run(t, s.run);
  if (j && j->working && j->working->run == s.run && !j->working->evicts.empty())
    archive_and_evict(t, *j, s, now);
}

void run_ended(transaction& t, const run& row) {
  auto j = job_of_run(t, row.id);
  if (!j) return;
  if (j->working && j->working->run == row.id) return settle(t, std::move(*j), row);
  t.erase(key(table::sleeptime_runs).add(row.id));
  std::erase(j->waiting, row.id);
  j->next.reset(); // which may have covered it
  if (j->working) std::erase(j->working->with, row.id);
  put_job(t, *j);
}

namespace {

run cancelled_now(environment& env) {
  run like;
  like.status = run_status::cancelled;
  like.stop_reason_ = stop_reason::cancelled;
  like.completed_at = naive_timestamp{env.now().us};
  return like;
}

} // namespace

void cancel_waiting(transaction& t, sleeptime_job j, environment& env) {
  j.next.reset();
  for (auto& id : std::exchange(j.waiting, {})) end_beside(t, id, cancelled_now(env), std::nullopt);
  put_job(t, j);
}

void forget_job(transaction& t, const sleeptime_job& j, environment& env) {
  erase_job(t, j);
  auto runs = j.waiting;
  if (j.working) {
    runs.push_back(j.working->run);
    runs.insert(runs.end(), j.working->with.begin(), j.working->with.end());
  }
  for (auto& id : runs) end_beside(t, id, cancelled_now(env), std::nullopt);
}

void cancel_waiting_jobs(transaction& t, const group_id& g, environment& env) {
  for (auto& j : jobs_of_group(t, g)) cancel_waiting(t, j, env);
}

void forget_jobs(transaction& t, const group_id& g, const std::optional<agent_id>& companion,
                 environment& env) {
  for (auto& j : jobs_of_group(t, g))
    if (!companion || j.companion == *companion) forget_job(t, j, env);
}

void forget_thread(transaction& t, const agent_id& agent, const conversation_id& c, environment& env) {
  auto g = managed_group(t, agent);
  for (auto& j : g ? jobs_of_group(t, g->id) : std::vector<sleeptime_job>{})
    if (j.conversation == c) forget_job(t, j, env);
}

} // namespace troupe::storage
