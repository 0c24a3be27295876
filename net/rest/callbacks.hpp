// The POST that the client of an asynchronous run or of a batch asked for (reference: agent-loop §6.3): once, with five
// seconds, after the end is durable; what came of it is kept on the run or the job. One that a crash prevented is sent
// after the restart.
#pragma once

#include "net/rest/services.hpp"

namespace troupe::net::rest {

// A run has ended: its own callback, and that of the batch that it was the last of.
void send_callback(services& s, const run_id& run);
// All that are due and not on their way.
void send_callbacks_due(services& s);

} // namespace troupe::net::rest
