#include "storage/voice_memories.hpp"

#include "storage/prompts.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

key memories_key(const agent_id& agent) { return key(table::voice_memories).add(agent); }

// The arguments of the call that was made, where it went well.
std::optional<json::object> stored_arguments(const turn::step_commit& s) {
  for (auto& m : s.messages)
    for (auto& call : m->tool_calls) {
      if (call.name != "store_memories") continue;
      bool well = std::any_of(s.messages.begin(), s.messages.end(), [&](auto& x) {
        return std::any_of(x->tool_returns.begin(), x->tool_returns.end(), [&](auto& r) {
          return r.tool_call_id == call.id && r.status == return_status::success;
        });
      });
      auto arguments = well ? json::try_parse(call.arguments) : std::nullopt;
      if (arguments && arguments->is_object()) return arguments->get_object();
    }
  return std::nullopt;
}

} // namespace

std::vector<voice_memory> voice_memories(const reader& r, const agent_id& agent) {
  std::vector<voice_memory> out;
  r.scan_prefix(memories_key(agent), reader::direction::forward, [&](auto k, auto) {
    if (auto m = load<voice_memory>(r, k)) out.push_back(std::move(*m));
    return true;
  });
  return out;
}

void erase_voice_memories(transaction& t, const agent_id& agent) { t.erase_prefix(memories_key(agent)); }

void archive_and_evict(transaction& t, const sleeptime_job& j, const turn::step_commit& s, timestamp now) {
  auto arguments = stored_arguments(s);
  if (!arguments) return;
  auto& going = j.working->evicts;
  auto leaves = [&](const message_id& id) {
    return std::find(going.begin(), going.end(), id) != going.end();
  };
  context_key thread{j.agent, j.conversation};
  auto entries = context_entries(t, thread);
  std::vector<stored_message> shown;
  for (auto& id : going)
    if (auto m = find_message(t, id)) shown.push_back(std::move(m));
  std::erase_if(entries, [&](auto& e) { return leaves(e.id); });
  std::uint64_t number = 0;
  for (auto& what : sleeptime::memories_of(*arguments, shown))
    save(t, memories_key(j.agent).add(now).add(number++), voice_memory{j.agent, now, std::move(what)});
  replace_context(t, thread, entries);
  rebuild_system_message(t, thread, prompt_time{now});
}

} // namespace troupe::storage
