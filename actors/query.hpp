// Workers for reads that are too long for the I/O thread: listings, overviews, big bodies. Each read gets a snapshot
// of its own and gives a finished body.
#pragma once

#include "actors/actors.hpp"

namespace troupe::actors {

struct query_state {
  query_state() = default; // not an aggregate
  static inline const char* name = "query";
};

query_actor::behavior_type query_worker(query_actor::stateful_pointer<query_state> self,
                                        std::shared_ptr<storage::database> db);

} // namespace troupe::actors
