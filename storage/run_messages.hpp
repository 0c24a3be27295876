// What a run said, as clients see it: of a group's, the turns of its members.
#pragma once

#include "core/project/messages.hpp"
#include "storage/runs.hpp"

namespace troupe::storage {

// What the run made, not what it was given, in order, told as this run's.
std::vector<project::api_message> shown_messages(const reader& r, const run& row);

} // namespace troupe::storage
