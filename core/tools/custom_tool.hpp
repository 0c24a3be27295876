// Tools made from Python source (reference: resources §6): what their processes are asked (configs/sandbox/call.py,
// schema.py) and what the answers mean. Texts of errors are part of the interface: models and clients see them.
#pragma once

#include "core/tools/core_tools.hpp"

namespace troupe::tools {

// Has a source that can be run here.
bool runs_in_sandbox(const tool& t);

// -- calls ----------------------------------------------------------------------------------------
using variables = std::vector<std::pair<std::string, std::string>>;

// What a call finds in its environment beside the server's own: the agent's secrets, whose it is, which tool.
variables variables_of(const agent& a, const tool& t);

struct tool_run {
  std::string name; // of the function; empty: the last one of the source
  std::string source;
  std::optional<json::object> schema;
  json::object arguments;
  variables environment;
  std::string agent_state; // JSON of the agent, for sources that ask for it; empty: none
};
std::string run_request(const tool_run& r);
bool asks_for_agent_state(std::string_view source);

struct run_answer {
  tool_result result;
  std::vector<block_change> blocks; // what the call did to its agent_state
};
// `error` of the answer: the process could not be had, or was lost.
run_answer read_run_answer(std::string_view name, const result<std::string>& answer);

// The returned value as the endpoints show it: where it is too long, a text with a note, not cut.
json::value with_note(const tool_result& r, std::int64_t limit);

// -- sources --------------------------------------------------------------------------------------
// For the schema of a source; `arguments` where those are described apart from it.
std::string schema_request(std::string_view source, const std::optional<json::object>& arguments);
// Errors: invalid_argument, with why there is none.
result<json::object> read_schema_answer(const result<std::string>& answer);

} // namespace troupe::tools
