// A request for a new agent -> everything that is to be stored for it (reference: resources §2.1–2.9). Pure: what the
// store knows (tools, blocks) and what the providers know (models) is handed in.
#pragma once

#include "core/agents/defaults.hpp"

namespace troupe::agents {

// What a request refers to, as far as the registries could resolve it.
struct resolved_models {
  llm_config llm; // of the handle, before anything of the request is applied
  std::optional<embedding_config> embedding;
};

struct new_agent {
  agent record;
  std::vector<block> blocks;     // new ones, attached
  std::vector<message> messages; // the first is the system message; all of them are in context
};

// How many files an agent may have open, and how much of each it sees.
std::optional<error> check_file_limits(const std::optional<std::int64_t>& files,
                                       const std::optional<std::int64_t>& view_chars);
// The handle of a model that a request may name.
std::optional<error> check_model_handle(const std::optional<std::string>& model);
// Checks of a request that need nothing but the request.
std::optional<error> check(const create_agent& request);

// The configuration of the request's model with everything of the request applied.
llm_config configure(const create_agent& request, const resolved_models& models);

// Names of the tools that the request asks for, base tools included, in order, without repetitions.
std::vector<std::string> wanted_tool_names(const create_agent& request);

// `tools`: those the agent starts with. `attached`: existing blocks, in order.
result<new_agent> make_agent(const create_agent& request, const llm_config& llm,
                             const std::optional<embedding_config>& embedding, const std::vector<tool>& tools,
                             const std::vector<block>& attached, const actor& by,
                             const std::optional<std::string>& project, environment& env);

// The messages that an agent begins with after its system message.
std::vector<message> initial_messages(const agent& a,
                                      const std::optional<std::vector<initial_message>>& sequence,
                                      const actor& by, environment& env);
// The system message, compiled from what the agent is made of.
message system_message(const agent& a, const std::vector<block>& blocks, const actor& by, environment& env,
                       const std::optional<conversation_id>& conversation = std::nullopt);

} // namespace troupe::agents
