// The tools that every server has from its first start (reference: resources §5.1), read from
// configs/tools/base_tools.json.
#pragma once

#include "core/schema/agent.hpp"

namespace troupe::tools {

struct base_tool {
  std::string name;
  tool_type type = tool_type::letta_core;
  bool parallel = false; // may run beside others of the same reply
  json::object schema;
};

// In the order of the file; the same list for the life of the process.
const std::vector<base_tool>& base_tools();

// The stored row of a base tool, for one organisation.
tool make_base_tool(const base_tool& t, const organization& org, const user_id& by, environment& env);
// Brings a stored row of a base tool up to this version's schema; what a client may have changed stays. True where
// anything is different afterwards.
bool refresh_base_tool(tool& row, const base_tool& t);

bool is_base_tool(std::string_view name);
// Runs inside the process, on the agent's own state (core/tools/core_tools.hpp).
bool is_core_tool(const tool& t);

} // namespace troupe::tools
