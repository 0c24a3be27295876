// The POST that an asynchronous run's client asked for (reference: agent-loop §6.3): once, with five seconds, after the
// end of the run is durable; what came of it is kept on the run. One that a crash prevented is sent after the restart.
#pragma once

#include "net/rest/services.hpp"

namespace troupe::net::rest {

void send_callback(services& s, const run_id& run);
void send_callbacks_due(services& s);

} // namespace troupe::net::rest
