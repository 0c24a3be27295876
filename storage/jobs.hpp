// Jobs of an organisation.
#pragma once

#include "core/schema/job.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<job> find_job(const reader& r, const job_id& id);
std::optional<job> find_job(const reader& r, const job_id& id, const org_id& org);
// With the runs that it waits for before it calls back, where it is to.
void create_job(transaction& t, const job& row);
// An existing one. Where it has failed or is complete, its callback is due; whoever cancels it knows.
void put_job(transaction& t, const job& row);
void erase_job(transaction& t, const job& row);
// One of its runs has ended, or is gone. After the last of them the callback is due.
void leave_batch(transaction& t, const job_id& batch, const run_id& run);

struct job_query {
  std::size_t limit = 100; // 0: no limit
  sort_order order = sort_order::desc;
  std::optional<job_id> before, after;
  std::optional<job_type> type;
  bool active = false; // only those that have not ended
};
std::vector<job> list_jobs(const reader& r, const org_id& org, const job_query& q);

} // namespace troupe::storage
