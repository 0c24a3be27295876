// What endpoints ask the sandbox about Python sources.
#pragma once

#include "core/tools/custom_tool.hpp"
#include "net/rest/call.hpp"

namespace troupe::net::rest {

// One job; its answer, or why there is none.
awaitable<result<std::string>> in_sandbox(call& c, std::string body);

// The schema that is made from a source, and from what describes its arguments, where that is not empty. Errors:
// invalid_argument, with why there is none.
awaitable<result<json::object>> schema_of(call& c, std::string source, std::optional<json::object> arguments);

// A package that a tool needs.
struct requirement {
  std::string name;
  std::optional<std::string> version;
  static constexpr const char* required[] = {"name"};
};
BOOST_DESCRIBE_STRUCT(requirement, (), (name, version))

} // namespace troupe::net::rest
