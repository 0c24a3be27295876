// The next piece of a companion's work: what it is told, and the order for its turn.
#pragma once

#include "storage/sleeptime.hpp"

namespace troupe::storage {

// Made from a snapshot, so that long histories are not read by the writer.
struct sleeptime_claim {
  sleeptime_job seen;
  turn_order order;
  std::uint64_t upto = 0;         // the last message that the turn covers
  bool is_part = false;           // more is to be told for the same triggers: this run is one of its own
  std::vector<run_id> runs;       // whose triggers it covers, the order's first
  std::vector<message_id> evicts; // see sleeptime_work
};

// Nothing where there is nobody to tell or nothing to be told any more: the job is to be dropped.
std::optional<sleeptime_claim> make_claim(const reader& r, const sleeptime_job& j, environment& env);

// Errors: conflict, where the job is another one by now.
result<void> store_claim(transaction& t, const sleeptime_claim& c);
result<void> drop_waiting(transaction& t, const sleeptime_job& seen, environment& env);

// The order of a claim whose turn did not end, as it goes on.
std::shared_ptr<const turn_order> order_of(const reader& r, const sleeptime_job& j);

// Another try, later.
result<void> put_off(transaction& t, const sleeptime_job& seen, const sleeptime::tries& tries,
                     timestamp until, const std::string& why);

} // namespace troupe::storage
