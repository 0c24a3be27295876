// The beginning of a store's life and of every start: format, defaults, recovery; and the check of a whole store.
#pragma once

#include "core/base/environment.hpp"
#include "storage/kv.hpp"

namespace troupe::storage {

// The version of keys and records that this program writes (docs/format.md).
inline constexpr int format_version = 1;

// False for a store that has no format record yet. A newer format is an error that says what to do.
result<bool> has_format(const reader& r);
// Checks the format record, or writes it into a new store.
result<void> prepare_format(database& db, environment& env);
// The organisation, the user and the tools that every store has. Gives nothing where all was there.
result<void> prepare_defaults(database& db, environment& env);
// Ends what a crash interrupted; gives the number of runs.
result<std::size_t> recover(database& db, environment& env);

struct check_report {
  std::size_t agents = 0, blocks = 0, tools = 0, messages = 0, runs = 0, steps = 0, conversations = 0;
  std::vector<std::string> problems; // one line each; the first hundred
};
// Reads every record and follows every reference. Changes nothing.
check_report check(const reader& r);

} // namespace troupe::storage
