// The whole API as one HTTP handler: who acts, which route, what it answers (reference: resources §1).
#pragma once

#include "net/rest/services.hpp"

namespace troupe::net::rest {

// Adds every route and gives the handler. `s` must outlive it.
http::handler make_api(services& s);

// True for callers that are SDKs of version 1 or later, and for those that do not say what they are.
bool is_new_sdk(const http::request& r);

} // namespace troupe::net::rest
