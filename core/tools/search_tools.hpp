// The tools that search what an agent heard and said.
#pragma once

#include "core/tools/core_tools.hpp"

namespace troupe::tools {

// They change nothing.
inline bool only_searches(std::string_view name) {
  return name == "conversation_search" || name == "search_memory";
}

outcome<json::value> conversation_search(const json::object& arguments, tool_context& context);

// Of voice agents (reference: resources §5.9): what was saved of earlier talk, nearest to what was said last, and
// messages that hold keywords, both within a window of minutes. Its result is a text that holds JSON.
outcome<json::value> search_memory(const json::object& arguments, tool_context& context);

} // namespace troupe::tools
