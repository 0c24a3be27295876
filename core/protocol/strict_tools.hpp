// Tools whose calls a provider keeps to their schema.
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe {

// The same tool in the form that strict calls need: no properties but those named, all of them required, optional ones
// nullable.
offered_tool strictly(offered_tool t);

} // namespace troupe
