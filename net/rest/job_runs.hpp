// What jobs of both kinds have in common.
#pragma once

#include "net/rest/call.hpp"
#include "storage/jobs.hpp"

namespace troupe::net::rest {

// Ends a job and the runs that still work for it; one that has ended stays as it is. The answer is the job.
awaitable<outcome> cancel_job(call& c, const job_id& id);

// A list from and to the jobs that these name. Errors: invalid_argument, for those that nobody has.
result<void> set_cursors(storage::job_query& q, const storage::reader& r, const org_id& org,
                         const std::optional<std::string>& before, const std::optional<std::string>& after);

} // namespace troupe::net::rest
