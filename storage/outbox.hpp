// Work that was promised and is not done: turns that go on without a client, and calls back that are due. All of it are
// rows that were written with what promised them; whoever does the work takes them away with its last batch.
#pragma once

#include "storage/turns.hpp"

namespace troupe::storage {

// Why a turn is in the outbox.
enum class promise { background, group, group_turn, companion, message };
BOOST_DESCRIBE_ENUM(promise, background, group, group_turn, companion, message)

struct promised_turn {
  run_id run;
  agent_id agent;
  promise kind = promise::background;
  timestamp since;
};
// Oldest first.
std::vector<promised_turn> promised_turns(const reader& r, const org_id& org);

} // namespace troupe::storage
