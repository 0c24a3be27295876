// What a turn begins with. The messages of a request -> stored messages, and the checks that come before a turn begins
// (reference: agent-loop §2.1, §7.2).
#pragma once

#include "core/base/environment.hpp"
#include "core/turn/types.hpp"

namespace troupe::turn {

// What the inputs of a request come to. At most one approval, and only as the first.
struct prepared_inputs {
  std::optional<message> approval; // answers the request for approval at the end of the context
  std::vector<stored_message> messages;
};

// Errors: invalid_argument and the like for contents that cannot be taken, pending_approval, and the refusals of
// approvals that clients match.
result<prepared_inputs> prepare(const input& in, environment& env);

// True where the item of an answer is about this call. The older form names the request's message for its one call.
bool is_about(const approval_item& item, const tool_call& call, const message& request);

// Moved out of the record, so that the rest of it goes.
agent_traits traits_of(agent a);

// A message of this turn, with everything that all of them share.
message new_message(const input& in, message_role role, environment& env);

} // namespace troupe::turn
