// What is written before tools run that act outside of the store: the batch that their step would be if they had never
// returned. The step's own batch takes it away. Where the server dies between the two, it is stored in its place after
// the restart: every call has a return, and the model is told that the call may have had its effect.
#pragma once

#include "core/turn/types.hpp"
#include "storage/kv.hpp"

namespace troupe::storage {

void put_tool_intent(transaction& t, const turn::step_commit& if_lost);
void drop_tool_intent(transaction& t, const run_id& run);
// After a crash: stores what is there of that run.
void settle_tool_intent(transaction& t, const run_id& run, environment& env);

} // namespace troupe::storage
