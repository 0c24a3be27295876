// What the lists of messages have in common (reference: agent-loop §10).
#pragma once

#include "net/rest/parameters.hpp"
#include "storage/messages.hpp"

namespace troupe::net::rest {

// The place of a cursor in the global sequence. Errors: not_found, for ids that nobody has.
result<std::optional<std::uint64_t>> sequence_of(const storage::reader& r,
                                                 const std::optional<std::string>& cursor, const org_id& org);

// How the texts of an agent's assistant messages are to be read.
bool shows_text(const storage::reader& r, const agent_id& agent);

// Of messages in order, oldest first: those between the cursors, `limit` of them from the end that the order begins at.
// Newest first where the order is desc.
std::vector<storage::stored_message> cut_messages(const storage::reader& r,
                                                  std::vector<storage::stored_message> all,
                                                  std::optional<std::uint64_t> before,
                                                  std::optional<std::uint64_t> after, std::size_t limit,
                                                  sort_order order);

} // namespace troupe::net::rest
