// The companion of an agent: one of its own that tidies up the memory that both share (reference: groups §2.4.1, §2.5).
#pragma once

#include "core/schema/agent.hpp"
#include "core/schema/group.hpp"

namespace troupe::agents {

create_agent companion_request(const agent& main);
group companion_group(const agent& main, const agent_id& companion, environment& env);

} // namespace troupe::agents
