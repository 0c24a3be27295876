// What was said in a group, once for all: the view of a conversation (reference: groups D11).
#pragma once

#include "core/schema/group.hpp"
#include "net/rest/parameters.hpp"
#include "storage/kv.hpp"

namespace troupe::net::rest {

// A window of the log, oldest first: messages of the user, system messages of the group, what members said as
// assistant messages under their names.
std::string conversation_text(const storage::reader& r, const group& g, const page_parameters& page);

} // namespace troupe::net::rest
