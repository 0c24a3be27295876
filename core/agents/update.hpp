// PATCH of an agent (reference: resources §2.12). Pure, like creation.
#pragma once

#include "core/agents/create.hpp"

namespace troupe::agents {

// True where the change rebuilds the model's configuration from a handle, which has to be resolved first.
bool needs_model(const update_agent& change);
// The handle to resolve for it: the new one, or the one the agent has.
std::string wanted_handle(const update_agent& change, const agent& a);

// Applies the change to the record and the activity. `models` as resolved, where needed. Relations (tools, blocks) are
// only taken over as ids: the caller checks them.
std::optional<error> apply(agent& a, agent_activity& activity, const update_agent& change,
                           const std::optional<resolved_models>& models, const actor& by, environment& env);

} // namespace troupe::agents
