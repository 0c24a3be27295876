#include "storage/jobs.hpp"

#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

// A batch is what its runs are: nothing has to be written when one of them ends.
job with_state_of_runs(const reader& r, job j) {
  if (j.type != job_type::batch || is_terminal(j.status)) return j;
  bool open = false, failed = false;
  for (auto& id : j.runs) {
    auto row = find_run(r, id);
    if (!row) continue;
    open |= !is_terminal(row->status);
    failed |= row->status == run_status::failed;
    if (row->completed_at && (!j.completed_at || *j.completed_at < *row->completed_at))
      j.completed_at = row->completed_at;
  }
  j.status = open ? job_status::running : failed ? job_status::failed : job_status::completed;
  if (open) {
    j.completed_at.reset();
  } else if (j.completed_at) {
    j.updated_at = timestamp{j.completed_at->us};
    j.total_duration_ns = (j.completed_at->us - j.created_at.us) * 1000;
  }
  return j;
}

void set_callback_due(transaction& t, const job_id& id) { t.put(key(table::callbacks_due).add(id), "j"); }

} // namespace

std::optional<job> find_job(const reader& r, const job_id& id) {
  auto j = load<job>(r, key(table::jobs).add(id));
  return j ? std::optional(with_state_of_runs(r, std::move(*j))) : std::nullopt;
}

std::optional<job> find_job(const reader& r, const job_id& id, const org_id& org) {
  return of_org(find_job(r, id), org);
}

void create_job(transaction& t, const job& row) {
  put_job(t, row);
  t.put(key(table::jobs_by_org).add(row.organization_id).add(row.created_at).add(row.id), {});
  if (!row.callback_url) return;
  for (auto& run : row.runs) t.put(key(table::batch_runs).add(row.id).add(run), {});
}

void put_job(transaction& t, const job& row) {
  save(t, key(table::jobs).add(row.id), row);
  if (!is_terminal(row.status)) return;
  t.erase_prefix(key(table::batch_runs).add(row.id));
  bool told = row.status == job_status::completed || row.status == job_status::failed;
  if (told && row.callback_url && !row.callback_sent_at) set_callback_due(t, row.id);
}

void leave_batch(transaction& t, const job_id& batch, const run_id& run) {
  auto waits_for = key(table::batch_runs).add(batch);
  auto own = key(waits_for).add(run);
  if (!t.get(own)) return;
  t.erase(own);
  bool is_last = true;
  t.scan_prefix(waits_for, reader::direction::forward, [&](auto, auto) { return is_last = false; });
  if (is_last) set_callback_due(t, batch);
}

void erase_job(transaction& t, const job& row) {
  t.erase_prefix(key(table::batch_runs).add(row.id));
  t.erase(key(table::callbacks_due).add(row.id));
  t.erase(key(table::jobs_by_org).add(row.organization_id).add(row.created_at).add(row.id));
  t.erase(key(table::jobs).add(row.id));
}

std::vector<job> list_jobs(const reader& r, const org_id& org, const job_query& q) {
  auto at = [&](const std::optional<job_id>& id) {
    auto j = id ? find_job(r, *id, org) : std::nullopt;
    return j ? place(j->created_at, j->id.value) : std::string{};
  };
  page p{.limit = q.limit, .order = q.order, .after = at(q.after), .before = at(q.before)};
  std::vector<job> out;
  list(r, key(table::jobs_by_org).add(org), p, [&](const uuid& id) {
    auto j = find_job(r, job_id{id});
    if (!j || (q.type && j->type != *q.type) || (q.active && is_terminal(j->status))) return false;
    out.push_back(std::move(*j));
    return true;
  });
  return out;
}

} // namespace troupe::storage
