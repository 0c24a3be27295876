// The tools with which an agent speaks to others (reference: groups §4, §7.7): what a call of them asks for, and how its
// answer reads. Who is asked and waited for is the actor's business.
#pragma once

#include "core/schema/agent.hpp"
#include "core/tools/core_tools.hpp"

namespace troupe::tools {

struct ask {
  std::string message;
  bool waits = true;    // for the answer; otherwise the message is left for the other
  bool by_tags = false; // those who match are asked, in place of one
  std::string to;       // an id, as it was given
  std::vector<std::string> match_all, match_some;
};

// True for tools that are calls of others.
bool asks_others(const tool& t);

// Errors: a call that does not fit the tool.
outcome<ask> read_ask(std::string_view name, const json::object& arguments);

// What the other one is told.
std::string asked_text(const agent_id& from, const ask& a);

// One answer. `said` is empty where there was none.
struct answer_of {
  agent_id agent;
  std::vector<std::string> said;
  std::optional<std::string> failure;
};
tool_result ask_result(std::string_view name, const ask& a, const std::vector<answer_of>& answers);

// The refusal of an ask that would wait for itself. `cycle`: names of those who wait, the asker first and last.
tool_result would_deadlock(const std::vector<std::string>& cycle);

tool_result ask_failed(std::string_view name, const tool_exception& e);

} // namespace troupe::tools
