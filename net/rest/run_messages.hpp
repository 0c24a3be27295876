// The messages of a run as its client asked to see them (reference: agent-loop §6.5).
#pragma once

#include "net/rest/services.hpp"
#include "storage/messages.hpp"
#include "storage/runs.hpp"

namespace troupe::net::rest {

// A list in JSON. `messages`: of the run, already in this order.
std::string messages_text(const storage::reader& r, const run& row,
                          const std::vector<project::stored_message>& messages, sort_order order);

} // namespace troupe::net::rest
