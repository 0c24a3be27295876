// What a turn reads and writes: its input from one snapshot, one batch a step.
#pragma once

#include "core/base/environment.hpp"
#include "core/turn/types.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

// What happens to a request whose context is at work.
enum class busy_policy { queue, reject, interrupt };
BOOST_DESCRIBE_ENUM(busy_policy, queue, reject, interrupt)

// A request as it waits in the queue of its context.
struct turn_order {
  run run_row; // as created
  agent_id agent;
  std::optional<conversation_id> conversation;
  actor acting;
  send_request request;
  rare<llm_config> llm_override;
  turn::mode how = turn::mode::blocking;
  bool tokens = false;
  rare<llm_config> summarizer;               // the model of compactions, where it is not the agent's own
  rare<turn::compaction_request> compaction; // instead of a turn; there is no run then
  bool resumed = false;                      // after a restart: the run is stored already
  busy_policy busy = busy_policy::queue;
  rare<turn::errand> part_of;    // other work; whoever gave it is answered at the end
  std::optional<group_id> group; // the context is a group: its run, not a turn of the agent
  bool replays = false;          // a request with the same otids that has ended is answered with its run

  // Work that goes on without its client, also over a restart.
  // A group finishes its round.
  bool outlives_restart() const noexcept {
    return how == turn::mode::background || how == turn::mode::async || group;
  }
  // A companion's: of the lowest priority.
  bool is_background_work() const noexcept { return part_of && part_of->is_awaited && !part_of->owner; }
  // Whose mailbox it goes to.
  uuid context() const { return group ? group->value : conversation ? conversation->value : agent.value; }
};
BOOST_DESCRIBE_STRUCT(turn_order, (),
                      (run_row, agent, conversation, acting, request, llm_override, how, tokens, summarizer,
                       compaction, part_of, group))

// Everything that the turn reads. Errors: not_found, where the agent or the conversation is gone.
result<turn::input> load_turn(const reader& r, const turn_order& order);

// Stores one step. Errors: not_found, where the agent is gone; conflict, where a block moved on; cancelled, where the
// run has ended already.
// `report`, where there is one, is told what it set off.
struct step_report {
  std::optional<std::vector<std::string>> run_ids; // of sleeptime runs
};
result<void> apply_step(transaction& t, const turn::step_commit& step, environment& env,
                        step_report* report = nullptr);

// Adds what an agent is to know in its next turn. False, and nothing is added, where the context ends with a question
// that has to be answered first.
bool append_between_turns(transaction& t, const context_key& context,
                          const std::vector<stored_message>& notes);

// Stores a compaction that belongs to no run. Errors: not_found.
result<void> apply_compaction(transaction& t, const turn::step_commit& step, environment& env);

// What the end of a run makes of its row.
void end_run(run& row, const turn::run_end& end, timestamp now);

// Calls that a run left open at the end of its context, and that nobody will answer any more, get a return that says so: every call has exactly one
// return. `why` is that return.
void close_open_calls(transaction& t, const run& row, const std::string& why, environment& env);

// After a restart: runs that nobody works on any more end as failed, open tool calls get a return that says so. Gives
// how many runs there were. With a context (an agent's default thread, or a conversation) only those of it.
std::size_t recover_runs(transaction& t, environment& env, const std::optional<uuid>& context = std::nullopt);

} // namespace troupe::storage
