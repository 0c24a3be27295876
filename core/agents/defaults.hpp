// What an agent gets where its creator said nothing (reference: resources §2.2–2.9, agent-loop §1.2). Pure tables.
#pragma once

#include "core/base/environment.hpp"
#include "core/schema/agent.hpp"

namespace troupe::agents {

// Names of the base tools that a new agent of this type starts with, in order, without repetitions.
std::vector<std::string> base_tool_names(agent_type type, bool enable_sleeptime);
std::vector<std::string> multi_agent_tool_names();

// Whether the rules that go with base tools are added (resources §2.3).
bool wants_base_rules(const create_agent& request, const std::string& model);
// The base rule of a tool, for those that have one.
std::optional<tool_rule> base_rule(const std::string& tool_name, tool_type type);

// AdjectiveNoun.
std::string random_name(environment& env);
// Unicode word characters, spaces, apostrophes and hyphens; not empty.
bool is_valid_name(std::string_view name);

// `given` (partial, as it came) over `base`; what is null in it becomes null. A new mode takes its own prompt along
// unless the same object names one.
result<compaction_settings> merge_compaction(const compaction_settings& base, const json::object& given);
compaction_settings default_compaction(const llm_config& llm);
// The model that summarises, by the provider of the agent's own.
std::string default_compaction_model(const llm_config& llm);

// The description of a block whose label has a customary one.
std::optional<std::string> default_block_description(const std::string& label);

} // namespace troupe::agents
