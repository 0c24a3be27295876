// When the companions of an agent are told what was said, and how often that is tried (reference: groups §2.4.2,
// §7.6). Pure.
#pragma once

#include "core/schema/group.hpp"
#include "core/schema/message.hpp"
#include "core/schema/run.hpp"

#include <chrono>
#include <memory>

namespace troupe::sleeptime {

using std::chrono::microseconds;

// Only whole exchanges count: one that failed, was cancelled or waits for an approval is told with the next.
bool is_complete(run_status status, const std::optional<stop_reason>& reason);

// One more complete turn: the group's counter moves. True where its companions are to be told now.
bool count_turn(group& g);

// How often a job was tried.
struct tries {
  std::int64_t failed = 0;
  std::int64_t refused = 0; // because there was too much to do just then: these do not count
};
BOOST_DESCRIBE_STRUCT(tries, (), (failed, refused))

constexpr std::int64_t most_tries = 3;

// Notes another failure. Gives how long to wait before the next try; nothing: that was the last one.
std::optional<microseconds> wait_after(tries& t, const error& why, std::uint64_t random);

// When a group with `idle_seconds` lets its companions begin: when nothing was said for so long, but not put off for
// ever where the talk never pauses.
timestamp begins_at(const group& g, timestamp first_trigger, timestamp last_trigger);

// What the run of a companion shows as its result: a whole answer, as to a blocking request.
json::object result_of(const std::vector<std::shared_ptr<const message>>& said,
                       const std::vector<step>& steps, stop_reason reason, bool text_is_speech);

} // namespace troupe::sleeptime
