// How the context of a voice agent is kept short (reference: groups §2.5): the oldest messages are shown to its
// companion, and leave the context once their memories are stored. Pure.
#pragma once

#include "core/group/transcript.hpp"
#include "core/json/value.hpp"
#include "core/schema/tool.hpp"

namespace troupe::sleeptime {

// The first message that stays, where the context (the system message first) is longer than `most`: about the newest
// `least`, beginning with what somebody says. 0: nothing goes.
std::size_t first_that_stays(const std::vector<stored_message>& context, std::int64_t most,
                             std::int64_t least);

// What the companion is told: numbered lines, those that go and those that stay.
std::string voice_letter(const std::vector<stored_message>& going,
                         const std::vector<stored_message>& staying);

// First the memories, then the block, then the end.
std::vector<tool_rule> voice_rules();

// A stretch of the lines that go, and what it was about.
struct memory {
  std::string lines;
  std::string context;
};
BOOST_DESCRIBE_STRUCT(memory, (), (lines, context))

// What a call of store_memories names. Numbers that there are no lines for are cut off.
std::vector<memory> memories_of(const json::object& arguments, const std::vector<stored_message>& going);

} // namespace troupe::sleeptime
