// The calls of one reply on their way. Those of built-in tools run in the agent's actor, on fresh copies of the blocks;
// those of tools from source run in the sandbox. In the order of the reply, one after another, but for those that may
// run beside others: they begin first.
#pragma once

#include "actors/actors.hpp"
#include "core/tools/ask_tools.hpp"
#include "core/tools/custom_tool.hpp"

#include <map>

namespace troupe::actors {

// One call that asks others, and what they have answered by now.
struct others_asked {
  tools::ask what;
  std::vector<tools::answer_of> answers;              // one for each who is asked, in order
  std::map<run_id, std::pair<std::size_t, uuid>> out; // turns under way: whose answer, in whose mailbox
};

struct tool_round {
  explicit tool_round(turn::run_tools e) : asked(std::move(e)), outcomes(asked.calls.size()) {}

  turn::run_tools asked;
  std::vector<std::optional<turn::tool_outcome>> outcomes; // as the calls
  std::size_t next = 0;
  std::vector<std::pair<std::size_t, uuid>> out; // calls that somebody else has, under which job or run
  std::map<std::size_t, others_asked> asks;      // calls that other agents are to answer
  agent self;
  std::vector<tool> attached;
  std::optional<tools::memory> blocks; // from the first call that needs them
  std::int64_t began_ns = 0;
  bool cancelled = false;       // nothing more begins
  std::optional<error> refused; // why nothing may act outside: that it would could not be stored

  const tool* tool_of(std::size_t i) const;
  bool is_out(std::size_t i) const;
};

} // namespace troupe::actors
