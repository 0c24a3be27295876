// The calls of one reply on their way. Those of built-in tools run in the agent's actor, on fresh copies of the blocks;
// those of tools from source run in the sandbox. In the order of the reply, one after another, but for those that may
// run beside others: they begin first.
#pragma once

#include "actors/actors.hpp"
#include "core/tools/custom_tool.hpp"

namespace troupe::actors {

struct tool_round {
  explicit tool_round(turn::run_tools e) : asked(std::move(e)), outcomes(asked.calls.size()) {}

  turn::run_tools asked;
  std::vector<std::optional<turn::tool_outcome>> outcomes; // as the calls
  std::size_t next = 0;
  std::vector<std::pair<std::size_t, uuid>> out; // calls that the sandbox has, under which job
  agent self;
  std::vector<tool> attached;
  std::optional<tools::memory> blocks; // from the first call that needs them
  std::int64_t began_ns = 0;
  bool cancelled = false; // nothing more begins

  const tool* tool_of(std::size_t i) const;
  bool is_out(std::size_t i) const;
};

} // namespace troupe::actors
  std::optional<error> refused; // why nothing may act outside: that it would could not be stored
