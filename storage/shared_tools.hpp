// Tools as turns read them: decoded once, and shared by all turns. Most agents have the same few tools, and their
// schemas are the largest part of what a turn would decode anew.
#pragma once

#include "core/schema/agent.hpp"
#include "storage/kv.hpp"

namespace troupe::storage {

// The agent's tools in its order. They are found by their stored bytes, so that one that was changed is another one.
std::vector<shared_tool> shared_tools_of(const reader& r, const agent& a);

} // namespace troupe::storage
