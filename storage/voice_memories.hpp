// What the companions of voice agents saved of conversations, and how the saved messages leave the context
// (reference: groups §2.5, §7.5: archive before evict).
#pragma once

#include "core/group/voice.hpp"
#include "storage/sleeptime.hpp"

namespace troupe::storage {

// Kept until there are archives that can take it over.
struct voice_memory {
  agent_id agent;
  timestamp created_at;
  sleeptime::memory what;
};
BOOST_DESCRIBE_STRUCT(voice_memory, (), (agent, created_at, what))
std::vector<voice_memory> voice_memories(const reader& r, const agent_id& agent);
void erase_voice_memories(transaction& t, const agent_id& agent);

// In the batch of a companion's step: where it stored memories, they are kept, and the messages that it was shown to
// that end leave the context.
void archive_and_evict(transaction& t, const sleeptime_job& j, const turn::step_commit& s, timestamp now);

} // namespace troupe::storage
