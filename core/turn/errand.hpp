// A turn that is part of other work: of a group's run, of another agent's ask, of a job in the background. Whoever gave
// it waits for its end and reads what became of it from its run; events go where the work is watched.
#pragma once

#include "core/base/time.hpp"
#include "core/schema/tool.hpp"

namespace troupe::turn {

// What the turn has beside what its agent has. Nothing of it is stored with the agent.
struct overlay {
  std::string prompt;      // a further section of the system message
  std::vector<tool> tools; // offered, too
  std::optional<std::string>
      answer; // of these tools; nothing: the turn ends, and goes on when they are answered
  std::optional<std::vector<tool_rule>> rules; // in place of the agent's

  bool has_tool(const std::string& name) const;
};
BOOST_DESCRIBE_STRUCT(overlay, (), (prompt, tools, answer, rules))

struct errand {
  std::optional<run_id> owner;    // the run that this is part of
  std::optional<run_id> shown_in; // whose stream shows its events
  std::optional<group_id> group;  // its messages carry this
  std::optional<timestamp> deadline;
  bool is_awaited = true;     // nobody waits for what was merely left for the agent
  std::int64_t hops_left = 8; // how many more may wait for each other behind it
  bool may_retry = false;     // a failure of the model does not end the run: it is tried again
  overlay extra;
  std::int64_t tokens_left =
      1'000'000; // that those whom it asks may use; nobody is asked any more behind that
};
BOOST_DESCRIBE_STRUCT(errand, (),
                      (owner, shown_in, group, deadline, is_awaited, hops_left, may_retry, extra,
                       tokens_left))

} // namespace troupe::turn
