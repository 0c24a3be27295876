// Requests by the otids that their clients gave to the messages: for some hours they lead to their run, so that a
// request that comes twice is not run twice (reference: agent-loop §5.6).
#pragma once

#include "core/schema/run.hpp"
#include "storage/kv.hpp"

#include <chrono>

namespace troupe::storage {

inline constexpr std::chrono::hours request_memory{3};

// Part of the batch that creates the run. Forgets some of those that are too old.
void remember_request(transaction& t, const run& row);
void forget_request(transaction& t, const run& row);

// The newest run of a message with this otid.
std::optional<run> run_of_otid(const reader& r, const org_id& org, std::string_view otid, timestamp now);
// The run of an earlier request with the same otids, in the same context.
std::optional<run> run_of_request(const reader& r, const run& like);

} // namespace troupe::storage
