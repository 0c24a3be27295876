// The provider's side of a trace, as a JSON object, whatever came: a reply, one that was put together from a stream, or
// an error.
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe::protocol {

// As it is stored: a reply as it was sent, because every turn pays for this.
std::string traced_reply(const result<model_reply>& reply, const std::string& model);

// As it is shown: a chat completion has every member that its schema has; providers leave out what they do not use.
std::string shown_reply(std::string_view traced);

} // namespace troupe::protocol
