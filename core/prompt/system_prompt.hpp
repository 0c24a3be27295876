// The text of an agent's system message (reference: resources §3): the agent's own instructions with its memory put
// in their place. Pure: the same inputs give the same text.
#pragma once

#include "core/schema/agent.hpp"

namespace troupe::prompt {

// The default instructions of a type of agent; nothing for split_thread_agent, which has none.
std::optional<std::string_view> default_system(agent_type type);
// The default text that a summary is asked for with.
std::string_view compaction_prompt(compaction_mode mode);
// Without its final newline.
std::string_view text(std::string_view name);

// Memory blocks, tool rules, directories: what the agent's memory shows (resources §3.2).
std::string compile_memory(const agent& a, const std::vector<block>& blocks);

struct memory_counts {
  std::int64_t messages_outside_context = 0;
  std::int64_t archival_passages = 0;
  std::vector<std::string> archive_tags;
};

// `recompiled` is the time that the metadata name; `conversation` is empty for the default thread.
std::string compile_system_message(const agent& a, const std::vector<block>& blocks,
                                   const memory_counts& counts, timestamp recompiled,
                                   const std::optional<conversation_id>& conversation);

// The parts of a compiled system message, for the context overview (resources §2.15). Views into `text`.
struct system_parts {
  std::string_view system_prompt;
  std::optional<std::string_view> core_memory;
  std::optional<std::string_view> tool_usage_rules;
  std::optional<std::string_view> directories;
  std::string_view metadata;
};
system_parts split_system_message(std::string_view text);

// The sentence of a rule as prompts and refusals show it, in its tags; empty for rules without one.
std::string rule_sentence(const tool_rule& rule);

} // namespace troupe::prompt
