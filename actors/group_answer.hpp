// The answer to a request that a group's run served: what its members said in their turns, in order.
#pragma once

#include "core/turn/output.hpp"
#include "storage/turns.hpp"

namespace troupe::actors {

// LettaResponse.
std::string group_answer(const storage::reader& r, const storage::turn_order& order, const turn::finished& e);

} // namespace troupe::actors
