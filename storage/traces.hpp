// Traces of steps: what went to the provider and came back. The oldest go when there are too many.
#pragma once

#include "core/schema/trace.hpp"
#include "storage/tables.hpp"

namespace troupe::storage {

struct trace_limits {
  std::size_t most = 10'000; // 0: none are kept
  std::size_t most_bytes = std::size_t{256} << 20;
};

void put_trace(transaction& t, const provider_trace& trace, const trace_limits& limits);
std::optional<provider_trace> find_trace(const reader& r, const step_id& step, const org_id& org);

} // namespace troupe::storage
