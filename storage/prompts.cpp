#include "storage/prompts.hpp"

#include "storage/agents.hpp"
#include "storage/blocks.hpp"

#include <algorithm>

namespace troupe::storage {

std::optional<compiled_prompt> compile_prompt(const reader& r, const context_key& c, prompt_time time) {
  auto a = find_agent(r, c.agent);
  if (!a) return std::nullopt;
  auto entries = context_entries(r, c);
  if (entries.empty()) return std::nullopt;
  message_place place{c.agent, entries[0].sequence};
  auto stored = load_message(r, place);
  if (!stored || stored->role != message_role::system) return std::nullopt;
  prompt::memory_counts counts;
  auto total = activity_of(r, c.agent).message_count;
  counts.messages_outside_context =
      std::max<std::int64_t>(0, total - static_cast<std::int64_t>(entries.size()));
  auto text = prompt::compile_system_message(*a, blocks_of_context(r, *a, c.conversation), counts,
                                             time.at.value_or(stored->created_at), c.conversation);
  return compiled_prompt{place, *stored, std::move(text)};
}

void rebuild_system_message(transaction& t, const context_key& c, prompt_time time) {
  auto compiled = compile_prompt(t, c, time);
  if (!compiled || text_of(compiled->stored) == compiled->text) return;
  compiled->stored.content = {text_content{std::move(compiled->text), std::nullopt}};
  rewrite_message(t, compiled->place, compiled->stored);
}

void rebuild_system_message(transaction& t, const agent_id& agent, prompt_time time) {
  rebuild_system_message(t, {agent, std::nullopt}, time);
}

void rebuild_system_messages(transaction& t, const std::vector<block_id>& changed, const agent_id& by,
                             prompt_time time) {
  std::vector<agent_id> rebuilt;
  for (auto& id : changed) {
    auto agents = agents_of_block(t, id);
    if (std::find(agents.begin(), agents.end(), by) == agents.end())
      agents.push_back(by); // a detached block's
    for (auto& agent : agents)
      if (std::find(rebuilt.begin(), rebuilt.end(), agent) == rebuilt.end()) {
        rebuild_system_message(t, agent, time);
        rebuilt.push_back(agent);
      }
  }
}

result<void> edit_memory(transaction& t, const agent_id& by, const std::vector<tools::memory_edit>& edits,
                         environment& env) {
  auto changed = apply_edits(t, by, std::nullopt, edits, env);
  if (!changed) return changed.error();
  rebuild_system_messages(t, *changed, by, prompt_time{env.now()});
  return {};
}

} // namespace troupe::storage
