// The events of runs for readers that come later, or again (reference: agent-loop §5.5).
#pragma once

#include "net/rest/call.hpp"

namespace troupe::net::rest {

struct reading {
  std::uint64_t after = 0; // the number of the last event that the reader has
  bool pings = true;
};

// The stream of a run. A background run's log that is not in memory is made anew from what is stored.
http::response events_of(const call& c, const run_id& run, reading how);

// The stored events of a background run as its log: after a restart.
void restore_log(const services& s, const run& row, bool pings);

} // namespace troupe::net::rest
