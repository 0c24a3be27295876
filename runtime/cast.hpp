// The demo cast: agents and groups of the built-in model that a fresh server may begin with (configs/demo/cast.json;
// their lines: configs/rehearsals/cast.json). It is made through the API, as a client would make it.
#pragma once

#include "net/http/message.hpp"

namespace troupe::runtime {

// Makes what of the cast is missing, as long as there are no other agents. Gives true where all of it is there.
net::awaitable<result<bool>> prepare_cast(net::http::handler api, std::string password);

} // namespace troupe::runtime
