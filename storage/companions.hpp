// Companions in the store: an agent that tidies up another one's memory, and the group of both.
#pragma once

#include "core/schema/agent.hpp"
#include "storage/kv.hpp"

namespace troupe::storage {

// In the batch that makes or changes the agent itself.
result<void> create_companion(transaction& t, const agent& main, const actor& by, environment& env);

// A block that was attached to an agent goes to its companions, too, where they have none of its label.
void share_with_companions(transaction& t, const agent& main, const block& b);

// Deletes an agent as the API does: with its companions and their group. A companion that goes takes the group with it,
// and the agent that it served is without one. Errors: conflict, where the agent manages a group of another kind.
result<void> delete_agent(transaction& t, const agent& a, environment& env);

} // namespace troupe::storage
