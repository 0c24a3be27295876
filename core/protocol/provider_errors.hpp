// What errors of model providers have in common, whatever the protocol (reference: agent-loop §12). `provider` is the
// name that clients are shown: OpenAI, Anthropic.
#pragma once

#include "core/protocol/model_request.hpp"

#include <initializer_list>

namespace troupe::provider_errors {

// The text of an answer whose status is not 200.
std::string detail_of(int status, std::string_view body);

// Whatever their case.
bool says_any(std::string_view text, std::initializer_list<std::string_view> phrases);

error rate_limited(std::string_view provider, const std::string& detail);
error no_credits(const std::string& detail);
// The provider failed, or what it sent is none of its protocol.
error server_error(std::string_view provider, const std::string& detail);
// A stream that ended before its reply was whole; `any`: something had come.
error broken_stream(std::string_view provider, bool any);

} // namespace troupe::provider_errors
