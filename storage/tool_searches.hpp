// What the tools that search read of an agent: its history, and what was saved of it (core/tools/search_tools.hpp).
#pragma once

#include "core/schema/message_request.hpp"
#include "core/tools/core_tools.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

// Messages whose text holds the words, newest first; never the system's. Reads so many as the query says.
tools::search_found search_history(const reader& r, const agent_id& agent, const tools::search_query& q);

// All of them. Where a turn runs, `asked` are its messages, which the history may not have yet. Both have to outlive
// what is given.
tools::searches searches_of(const reader& r, const agent_id& agent,
                            const std::vector<input_message>* asked = nullptr);

} // namespace troupe::storage
