// What a performance of a script comes to as a model's reply.
#pragma once

#include "core/protocol/model_request.hpp"
#include "core/rehearsal/script.hpp"

namespace troupe::rehearsal {

// The reply, once everything was said. The usage defaults to a quarter of the bytes.
model_reply reply_of(const performance& p, std::size_t request_bytes);
// What becomes of a call where the script has an error.
error failure_of(const action& a);

} // namespace troupe::rehearsal
