// Arguments of a tool call, as models write them (reference: agent-loop §2.3).
#pragma once

#include "core/json/value.hpp"

namespace troupe::turn {

// Parsed arguments: of two objects run together the first counts, a string that holds JSON is decoded once more, and
// what is no object is none. request_heartbeat and thinking are taken out.
json::object parse_arguments(const std::string& text);
// The same with everything that the model wrote.
json::object parse_raw_arguments(const std::string& text);

} // namespace troupe::turn
