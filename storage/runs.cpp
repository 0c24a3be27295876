#include "storage/runs.hpp"

#include "storage/jobs.hpp"
#include "storage/requests.hpp"

#include <algorithm>
#include <map>

namespace troupe::storage {

std::optional<run> find_run(const reader& r, const run_id& id) {
  return load<run>(r, key(table::runs).add(id));
}

std::optional<run> find_run(const reader& r, const run_id& id, const org_id& org) {
  return of_org(find_run(r, id), org);
}

void put_run(transaction& t, const run& row) {
  save(t, key(table::runs).add(row.id), row);
  auto active = key(table::runs_active).add(row.id);
  if (!is_terminal(row.status)) return t.put(active, {});
  t.erase(active);
  t.erase(key(table::pending_turns).add(row.id));
  if (row.callback_url && !row.callback_sent_at) t.put(key(table::callbacks_due).add(row.id), {});
  if (row.batch) leave_batch(t, *row.batch, row.id);
}

void create_run(transaction& t, const run& row) {
  put_run(t, row);
  t.put(key(table::runs_by_org).add(row.organization_id).add(row.created_at).add(row.id), {});
  t.put(key(table::runs_by_agent).add(row.agent).add(row.created_at).add(row.id), {});
  remember_request(t, row);
}

message message_of_run(const run& row, message_role role, const std::optional<step_id>& step,
                       environment& env) {
  message m;
  m.created_at = m.updated_at = env.now();
  m.id = env.make_id<message_id>();
  m.agent = row.agent;
  m.organization_id = row.organization_id;
  m.conversation = row.conversation;
  m.role = role;
  m.run = row.id;
  m.step = step;
  return m;
}

std::vector<run_id> active_runs(const reader& r) {
  std::vector<run_id> out;
  r.scan_prefix(key(table::runs_active), reader::direction::forward,
                [&](auto k, auto) { return out.emplace_back(last_uuid(k)), true; });
  return out;
}

void erase_run(transaction& t, const run& row) {
  for (auto& id : row.steps) {
    if (auto s = find_step(t, id))
      t.erase(key(table::steps_by_org).add(s->organization_id).add(s->created_at).add(s->id));
    t.erase(key(table::steps).add(id));
    t.erase(key(table::traces).add(id));
  }
  t.erase(key(table::runs_by_org).add(row.organization_id).add(row.created_at).add(row.id));
  t.erase(key(table::runs_by_agent).add(row.agent).add(row.created_at).add(row.id));
  t.erase(key(table::runs_active).add(row.id));
  t.erase(key(table::pending_turns).add(row.id));
  t.erase(key(table::group_runs).add(row.id));
  t.erase(key(table::callbacks_due).add(row.id));
  if (row.batch) leave_batch(t, *row.batch, row.id);
  forget_request(t, row);
  t.erase(key(table::runs).add(row.id));
}

void erase_runs(transaction& t, const agent_id& agent) {
  std::vector<run_id> ids;
  t.scan_prefix(key(table::runs_by_agent).add(agent), reader::direction::forward,
                [&](auto k, auto) { return ids.emplace_back(last_uuid(k)), true; });
  for (auto& id : ids)
    if (auto row = find_run(t, id)) erase_run(t, *row);
}

namespace {

template <class T> bool any_or(const std::vector<T>& wanted, const T& x) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), x) != wanted.end();
}

bool matches(const run& row, const run_query& q) {
  return any_or(q.agents, row.agent) && any_or(q.statuses, row.status) &&
         (!q.background || row.background == *q.background) && (!q.reason || row.stop_reason_ == q.reason) &&
         (!q.conversation || row.conversation == q.conversation) && (!q.wanted || q.wanted(row));
}

template <class Id, class Find> std::string cursor_place(const std::optional<Id>& id, Find find) {
  auto row = id ? find(*id) : std::nullopt;
  return row ? place(row->created_at, row->id.value) : std::string{};
}

bool asks_for_active_only(const run_query& q) {
  return !q.statuses.empty() &&
         std::none_of(q.statuses.begin(), q.statuses.end(), [](run_status s) { return is_terminal(s); });
}

// The same page as from an index by time. Those that go on are few beside all that there ever were.
std::vector<run> list_active(const reader& r, const org_id& org, const run_query& q, const page& p) {
  std::map<std::string, run> found; // by place
  for (auto& id : active_runs(r)) {
    auto row = find_run(r, id, org);
    if (!row || !matches(*row, q)) continue;
    auto at = place(row->created_at, row->id.value);
    if (p.holds(at)) found.emplace(std::move(at), std::move(*row));
  }
  std::vector<run> out;
  out.reserve(found.size());
  for (auto& [at, row] : found) out.push_back(std::move(row));
  if (p.order == sort_order::desc) std::reverse(out.begin(), out.end());
  if (p.limit > 0 && out.size() > p.limit)
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(p.limit), out.end());
  return out;
}

} // namespace

std::vector<run> list_runs(const reader& r, const org_id& org, const run_query& q) {
  auto at = [&](const std::optional<run_id>& id) {
    return cursor_place(id, [&](auto& i) { return find_run(r, i); });
  };
  // Here `before` and `after` are swapped against the other listings: with the newest first, `before` is older.
  page p{.limit = q.limit, .order = q.order, .after = at(q.before), .before = at(q.after)};
  if (asks_for_active_only(q)) return list_active(r, org, q, p);
  auto index =
      q.agents.size() == 1 ? key(table::runs_by_agent).add(q.agents[0]) : key(table::runs_by_org).add(org);
  std::vector<run> out;
  list(r, index, p, [&](const uuid& id) {
    auto row = find_run(r, run_id{id}, org);
    if (!row || !matches(*row, q)) return false;
    out.push_back(std::move(*row));
    return true;
  });
  return out;
}

std::optional<step> find_step(const reader& r, const step_id& id) {
  return load<step>(r, key(table::steps).add(id));
}

std::optional<step> find_step(const reader& r, const step_id& id, const org_id& org) {
  return of_org(find_step(r, id), org);
}

void put_step(transaction& t, const step& s) { save(t, key(table::steps).add(s.id), s); }

void create_step(transaction& t, const step& s) {
  put_step(t, s);
  t.put(key(table::steps_by_org).add(s.organization_id).add(s.created_at).add(s.id), {});
}

std::vector<step> steps_of(const reader& r, const run& row) {
  std::vector<step> out;
  for (auto& id : row.steps)
    if (auto s = find_step(r, id)) out.push_back(std::move(*s));
  return out;
}

namespace {

bool matches(const step& s, const step_query& q) {
  auto has_tag = [&](auto& t) { return std::find(s.tags.begin(), s.tags.end(), t) != s.tags.end(); };
  if (q.agent && s.agent != *q.agent) return false;
  if (q.start && s.created_at < *q.start) return false;
  if (q.end && s.created_at > *q.end) return false;
  if (q.model && s.model != q.model) return false;
  if (!q.trace_ids.empty() && (!s.trace_id || !any_or(q.trace_ids, *s.trace_id))) return false;
  if (q.has_feedback && s.feedback.has_value() != *q.has_feedback) return false;
  if (q.feedback && (!s.feedback || json::enum_text(*s.feedback) != *q.feedback)) return false;
  if (q.project_id && s.project_id != q.project_id) return false;
  return q.tags.empty() || std::any_of(q.tags.begin(), q.tags.end(), has_tag);
}

} // namespace

std::vector<step> list_steps(const reader& r, const org_id& org, const step_query& q) {
  auto at = [&](const std::optional<step_id>& id) {
    return cursor_place(id, [&](auto& i) { return find_step(r, i); });
  };
  page p{.limit = q.limit, .order = q.order, .after = at(q.after), .before = at(q.before)};
  std::vector<step> out;
  list(r, key(table::steps_by_org).add(org), p, [&](const uuid& id) {
    auto s = find_step(r, step_id{id});
    if (!s || !matches(*s, q)) return false;
    out.push_back(std::move(*s));
    return true;
  });
  return out;
}

} // namespace troupe::storage
