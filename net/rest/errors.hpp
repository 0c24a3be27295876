// The one place where errors become bodies of the API (reference: resources §1.6, agent-loop §12).
#pragma once

#include "net/http/message.hpp"

namespace troupe::net::rest {

http::response error_response(const error& e);

// {"detail": "..."} with any status.
http::response detail(int status, std::string_view text);

} // namespace troupe::net::rest
