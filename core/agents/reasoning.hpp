// Reasoning switches of a configuration, brought into line with what its model can do (reference: resources §2.5).
#pragma once

#include "core/schema/model.hpp"

namespace troupe::agents {

// `reasoning` is what was asked for. Agents of type letta_v1_agent never simulate reasoning; older types do, for
// models without reasoning of their own.
void normalise_reasoning(llm_config& config, bool reasoning, agent_type type);

} // namespace troupe::agents
