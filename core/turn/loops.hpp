// Which loop runs an agent (reference: agent-loop §1.1).
#pragma once

#include "core/base/environment.hpp"
#include "core/turn/types.hpp"

namespace troupe::turn {

std::unique_ptr<machine> make_loop(input in, environment& env);

} // namespace troupe::turn
