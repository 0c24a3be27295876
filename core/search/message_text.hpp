// What of a message can be found by its words.
#pragma once

#include "core/schema/message.hpp"

namespace troupe::search {

// What was said, thought or returned in it. Empty for what nobody looks for: heartbeats, logins, an agent's own
// system prompt.
std::string text_to_find(const message& m);

} // namespace troupe::search
