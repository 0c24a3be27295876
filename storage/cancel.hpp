// Cancelling runs, and the requests for approval that they left open (reference: agent-loop §6.4).
#pragma once

#include "core/base/environment.hpp"
#include "storage/runs.hpp"

namespace troupe::storage {

// What a request without ids means: the runs of a context that go on, or else the last one that somebody waited for.
// `conversation`: nothing means the agent's own thread; `named` false means every thread of the agent.
std::vector<run_id> runs_to_cancel(const reader& r, const agent_id& agent,
                                   const std::optional<conversation_id>& conversation, bool every_thread);

// Ends a run that goes on, or that ended with a request for approval: that is denied, so that the agent can be talked
// to again. Any other run stays as it is. Errors: not_found.
result<void> cancel_run(transaction& t, const run_id& id, environment& env);

} // namespace troupe::storage
