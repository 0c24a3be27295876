// Runs of groups: the log of what was said, how far members have heard, one batch a step (reference: groups §7.4).
#pragma once

#include "core/group/run_machine.hpp"
#include "storage/turns.hpp"

namespace troupe::storage {

// Everything that a run begins or goes on with. Errors: not_found, where the group is gone.
result<group_run::input> load_group_run(const reader& r, const turn_order& order, timestamp now);

// The group and its members as they are now. Nothing where it is gone.
std::optional<group_run::view> view_of_group(const reader& r, const group_id& id, timestamp now);

// What became of a member's turn; nothing while it goes on.
std::optional<group_run::outcome> outcome_of(const reader& r, const run_id& id);

// Stores a step of a group's run, with the orders of the turns that it begins. Errors: not_found, cancelled (the run
// has ended).
result<void> apply_group_step(transaction& t, const group_run::step& step,
                              const std::vector<std::shared_ptr<const turn_order>>& begin, environment& env);

// What was said in the group, oldest first, from this entry on.
std::vector<group_run::log_entry> group_log(const reader& r, const group_id& id, std::uint64_t from = 1);
std::optional<group_run::run_state> group_run_state(const reader& r, const run_id& run);
// A group that goes: its log and who has heard what.
void erase_group_log(transaction& t, const group_id& id);

} // namespace troupe::storage
