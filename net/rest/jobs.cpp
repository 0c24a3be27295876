// /jobs (recordings jobs-read, async-batches): work that outlives its request.
#include "storage/jobs.hpp"

#include "net/rest/job_runs.hpp"
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

struct active_parameters {
  std::optional<std::string> source_id, before, after;
  std::optional<item_limit> limit;
  bool ascending = true;
};
BOOST_DESCRIBE_STRUCT(active_parameters, (), (source_id, before, after, limit, ascending))

struct list_parameters : active_parameters {
  sort_order order = sort_order::desc;
  only_created_at order_by = only_created_at::created_at;
  bool active = false;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (active_parameters), (order, order_by, active))

// Batches have lists of their own. Of a source there are none: files are worked on without jobs.
awaitable<outcome> answer_list(call& c, const active_parameters& p, std::int64_t default_limit,
                               sort_order order, bool active) {
  storage::job_query q;
  q.limit = items(p.limit.value_or(item_limit{default_limit}));
  q.order = order;
  q.type = job_type::job;
  q.active = active;
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    if (auto set = set_cursors(q, r, c.by.org, p.before, p.after); !set) return set.error();
    if (filled(p.source_id)) return "[]";
    return json::to_text(storage::list_jobs(r, c.by.org, q));
  });
}

awaitable<outcome> list(call& c) {
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto order = p->ascending ? p->order : sort_order::desc;
  co_return co_await answer_list(c, *p, 100, order, p->active);
}

awaitable<outcome> list_active(call& c) {
  auto p = query_of<active_parameters>(c);
  if (!p) co_return p.error();
  auto order = p->ascending ? sort_order::asc : sort_order::desc;
  co_return co_await answer_list(c, *p, 50, order, true);
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<job_id>(c, "job_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto j = storage::find_job(r, *id, c.by.org);
    if (!j) return storage::not_found_for("Job", id->str(), c.by);
    return json::to_text(*j);
  });
}

awaitable<outcome> cancel(call& c) {
  auto id = path_id<job_id>(c, "job_id");
  if (!id) co_return id.error();
  co_return co_await cancel_job(c, *id);
}

awaitable<outcome> erase(call& c) {
  auto id = path_id<job_id>(c, "job_id");
  if (!id) co_return id.error();
  std::function<result<std::string>(storage::transaction&)> store = [id = *id, by = c.by](auto& t) {
    auto j = storage::find_job(t, id, by.org);
    if (!j)
      return result<std::string>(
          fail(errc::not_found, "Job with id " + id.str() + " does not exist or user does not have access"));
    storage::erase_job(t, *j);
    return result<std::string>(json::to_text(*j));
  };
  co_return co_await write(c, "job.delete", std::move(store));
}

} // namespace

result<void> set_cursors(storage::job_query& q, const storage::reader& r, const org_id& org,
                         const std::optional<std::string>& before, const std::optional<std::string>& after) {
  for (auto [text, id] : {std::pair(&before, &q.before), std::pair(&after, &q.after)}) {
    if (!*text) continue;
    *id = job_id::parse(**text);
    if (!*id || !storage::find_job(r, **id, org))
      return fail(errc::invalid_argument, "Job with id " + **text + " not found");
  }
  return {};
}

void add_jobs(router& r) {
  r.add("GET", "/jobs/", list);
  r.add("GET", "/jobs/active", list_active);
  r.add("GET", "/jobs/{job_id}", retrieve);
  r.add("DELETE", "/jobs/{job_id}", erase);
  r.add("PATCH", "/jobs/{job_id}/cancel", cancel);
}

} // namespace troupe::net::rest
