// What names a run in a request.
#pragma once

#include "core/base/error.hpp"
#include "core/base/id.hpp"

namespace troupe::net::rest {

// Errors: invalid_argument, in the words for runs.
result<run_id> run_named(std::string_view text);

} // namespace troupe::net::rest
