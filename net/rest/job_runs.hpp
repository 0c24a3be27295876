// What jobs do with their runs.
#pragma once

#include "core/schema/job.hpp"
#include "net/rest/call.hpp"

namespace troupe::net::rest {

// Ends a job and the runs that still work for it; one that has ended stays as it is. The answer is the job.
awaitable<outcome> cancel_job(call& c, const job_id& id);

} // namespace troupe::net::rest
