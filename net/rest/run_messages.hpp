// The messages of a run as its client asked to see them (reference: agent-loop §6.5).
#pragma once

#include "net/rest/parameters.hpp"
#include "storage/messages.hpp"
#include "storage/runs.hpp"

namespace troupe::net::rest {

// A list in JSON. `messages`: of the run, already in this order.
std::string messages_text(const storage::reader& r, const run& row,
                          const std::vector<project::stored_message>& messages, sort_order order);

// The places, in the global sequence, of the cursors of a list of messages by time. Errors: not_found, in the words of
// those lists.
result<window<std::uint64_t>> message_window(const storage::reader& r, const page_parameters& page,
                                             const org_id& org);

} // namespace troupe::net::rest
