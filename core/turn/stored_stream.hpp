// The events of a run whose log is gone, made anew from what is stored: whole steps instead of tokens.
#pragma once

#include "core/turn/output.hpp"

namespace troupe::turn {

struct stored_run {
  const run& row;
  agent_type type; // of its agent
  const std::vector<step>& steps;
  const std::vector<project::api_message>& shown; // what it made
};

// The first event is the ping, where the client wanted any; the last ones tell the end, where the run has ended.
std::vector<frame> frames_of(const stored_run& from, bool pings, environment& env);

} // namespace troupe::turn
