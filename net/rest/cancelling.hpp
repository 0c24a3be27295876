// Cancelling one run, for whoever has to (reference: agent-loop §6.4).
#pragma once

#include "net/rest/call.hpp"

namespace troupe::net::rest {

// False where there is no such run, or its end could not be stored.
awaitable<bool> cancel_one(call& c, const run_id& id);

} // namespace troupe::net::rest
