#include "core/turn/errand.hpp"

#include <algorithm>

namespace troupe::turn {

bool overlay::has_tool(const std::string& name) const {
  return std::any_of(tools.begin(), tools.end(), [&](auto& t) { return t.name == name; });
}

} // namespace troupe::turn
