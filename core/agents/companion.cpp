#include "core/agents/companion.hpp"

#include "core/base/environment.hpp"
#include "core/prompt/system_prompt.hpp"

namespace troupe::agents {

namespace {

constexpr std::int64_t every_fifth_turn = 5;
constexpr std::int64_t most_messages = 30, least_messages = 15; // in the context of a voice agent

bool has_voice(const agent& main) { return main.type == agent_type::voice_convo_agent; }

} // namespace

create_agent companion_request(const agent& main) {
  create_agent q;
  q.name = main.name + "-sleeptime";
  q.agent_type_ = has_voice(main) ? agent_type::voice_sleeptime_agent : agent_type::sleeptime_agent;
  create_block persona;
  persona.label = "memory_persona";
  persona.value = prompt::text(has_voice(main) ? "voice_memory_persona" : "memory_persona");
  q.memory_blocks.emplace().push_back(std::move(persona));
  return q;
}

group companion_group(const agent& main, const agent_id& companion, environment& env) {
  group g;
  g.id = env.make_id<group_id>();
  g.manager_type_ = has_voice(main) ? manager_type::voice_sleeptime : manager_type::sleeptime;
  g.agent_ids = {companion};
  g.manager_agent_id = main.id;
  if (has_voice(main)) {
    g.description = "A voice agent that answers at once, and the agent that keeps its memory behind it.";
    g.max_message_buffer_length = most_messages;
    g.min_message_buffer_length = least_messages;
  } else {
    g.sleeptime_agent_frequency = every_fifth_turn;
    g.turns_counter = -1;
  }
  g.organization_id = main.organization_id;
  g.created_at = env.now();
  return g;
}

} // namespace troupe::agents
