// Thoughts and heartbeats as arguments of a call, as models of the older loop are asked to write them
// (reference: agent-loop §2.6, §2.7).
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe::turn {

struct inner_arguments {
  std::string thoughts;
  bool heartbeat = false;
};
// What a call's arguments say besides the tool's own.
inner_arguments read_inner(const std::string& arguments);

// The arguments as they are stored: thoughts taken out, the heartbeat as it was decided.
std::string with_heartbeat(const std::string& arguments, bool heartbeat);

// The schemas that the model is shown.
void add_heartbeat(offered_tool& t);
void add_thoughts(offered_tool& t);
// send_message says what the agent's format of answers asks for.
void shape_message(offered_tool& send_message, const std::optional<json::object>& response_format);

// A stored reply as the model wrote it: its text is the first argument of its call.
std::shared_ptr<const message> with_thoughts_in_arguments(const std::shared_ptr<const message>& m);

} // namespace troupe::turn
