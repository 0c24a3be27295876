// The provider's side of a trace, as a JSON object, whatever came: a reply as it was sent, one that was put together
// from a stream, or an error.
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe::protocol {

std::string traced_reply(const result<model_reply>& reply, const std::string& model);

} // namespace troupe::protocol
