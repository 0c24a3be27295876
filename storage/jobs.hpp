// Jobs of an organisation.
#pragma once

#include "core/schema/job.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<job> find_job(const reader& r, const job_id& id);
std::optional<job> find_job(const reader& r, const job_id& id, const org_id& org);
void put_job(transaction& t, const job& row);
void erase_job(transaction& t, const job& row);

struct job_query {
  std::size_t limit = 100; // 0: no limit
  sort_order order = sort_order::desc;
  std::optional<job_id> before, after;
  std::optional<job_type> type;
  bool active = false; // only those that have not ended
};
std::vector<job> list_jobs(const reader& r, const org_id& org, const job_query& q);

} // namespace troupe::storage
