// Images that a request names by URL, fetched before its turn (reference: agent-loop §2.1)
#pragma once

#include "core/schema/message_request.hpp"
#include "net/rest/call.hpp"

namespace troupe::net::rest {

// Replaces http, https and data URLs by what they hold. Errors: invalid_argument, where one cannot be had.
awaitable<result<void>> fetch_images(call& c, send_request& request);

// The parts of data:<type>;base64,<data>. Nothing for other forms.
std::optional<std::pair<std::string, std::string>> parse_data_url(std::string_view url);

std::string base64(std::string_view bytes);

} // namespace troupe::net::rest
