// What names a thread of an agent in a path: a conversation, `default`, or the agent (reference: agent-loop §11).
#pragma once

#include "net/rest/sending.hpp"

namespace troupe::net::rest {

struct thread_name {
  bool is_default = false;
  std::optional<agent_id> agent;
  std::optional<conversation_id> conversation;
};

// Errors: invalid_body, for what is none of them.
result<thread_name> thread_of_path(const call& c);

// Where a message goes; `agent_text`: the agent that goes with `default`. Errors: not_found, invalid_argument.
result<destination> destination_of(const call& c, const thread_name& name,
                                   const std::optional<std::string>& agent_text);

} // namespace troupe::net::rest
