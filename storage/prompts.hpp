// The stored system messages, kept in step with what they are compiled from (reference: resources §3.7).
#pragma once

#include "core/prompt/system_prompt.hpp"
#include "core/tools/memory.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

// The time that a rebuilt prompt names: now, or the one that it was first made at.
struct prompt_time {
  std::optional<timestamp> at;
};
inline constexpr prompt_time keep_time{};

// What a prompt of this context would be compiled to.
struct compiled_prompt {
  message_place place;
  message stored; // the system message as it is
  std::string text;
};
std::optional<compiled_prompt> compile_prompt(const reader& r, const context_key& c, prompt_time time);

// Rewrites the system message of an agent's default thread where its text differs. An agent without one is passed
// over.
void rebuild_system_message(transaction& t, const agent_id& agent, prompt_time time);
void rebuild_system_message(transaction& t, const context_key& c, prompt_time time);
// Of everybody who sees one of these blocks, and of who changed them.
void rebuild_system_messages(transaction& t, const std::vector<block_id>& changed, const agent_id& by,
                             prompt_time time);
// What a tool did to memory outside of any turn. Errors: conflict, where a block has moved on.
result<void> edit_memory(transaction& t, const agent_id& by, const std::vector<tools::memory_edit>& edits,
                         environment& env);

} // namespace troupe::storage
