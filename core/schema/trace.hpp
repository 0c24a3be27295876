// What went to a provider and came back in one step (reference: agent-loop §6.6).
#pragma once

#include "core/schema/model.hpp"

namespace troupe {

struct provider_trace {
  trace_id id;
  step_id step;
  agent_id agent;
  std::optional<run_id> run;
  org_id organization_id;
  user_id user;
  timestamp created_at;
  std::vector<std::string> agent_tags;
  std::string request;  // JSON texts
  std::string response; // as protocol/traced_reply.hpp has it
  llm_config config;

  static void write_json(std::string& out, const provider_trace& t);
};
BOOST_DESCRIBE_STRUCT(provider_trace, (),
                      (id, step, agent, run, organization_id, user, created_at, agent_tags, request, response,
                       config))

} // namespace troupe
