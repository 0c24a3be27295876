// What the companions of agents still have to be told (reference: groups §7.6): one record for each companion and
// thread of an agent. It is written in the batch that ends the agent's turn, and its cursor moves in the batch that
// ends the companion's; so nothing is lost and nothing is told twice, whenever the process dies.
#pragma once

#include "core/group/sleeptime.hpp"
#include "storage/turns.hpp"

namespace troupe::storage {

// What a companion is being told.
struct sleeptime_work {
  run_id run;
  std::vector<run_id> with; // of further triggers that this covers
  std::uint64_t upto = 0;   // the last message that it covers
  sleeptime::tries tries;
  timestamp not_before;           // the next try
  std::vector<message_id> evicts; // of a voice agent: what leaves its context when its memories are stored
};
BOOST_DESCRIBE_STRUCT(sleeptime_work, (), (run, with, upto, tries, not_before, evicts))

// What the next run covers: settled by the trigger that finds its companion at rest, so that it does not matter when
// that begins.
struct sleeptime_share {
  std::uint64_t runs = 0; // the first of those that wait
  std::uint64_t upto = 0; // the last message
};
BOOST_DESCRIBE_STRUCT(sleeptime_share, (), (runs, upto))

struct sleeptime_job {
  group_id group;
  agent_id agent; // who talks
  std::optional<conversation_id> conversation;
  agent_id companion;
  actor acting;
  std::uint64_t accepted = 0;         // the companion knows all messages of the thread up to this
  std::vector<run_id> waiting;        // of triggers that nobody works on yet
  std::uint64_t upto = 0;             // what the last trigger asked for
  timestamp first_trigger, begins_at; // of those that wait
  std::optional<sleeptime_work> working;
  std::optional<std::string> last_error; // of the last run that failed, until one is well
  std::optional<sleeptime_share> next;   // nothing: not settled

  // When there is something to do.
  std::optional<timestamp> due() const;
  // What the next run would cover as things are.
  sleeptime_share share() const { return next.value_or(sleeptime_share{waiting.size(), upto}); }
  // Its companion is at rest, and those that wait need not wait for more to be said.
  void decide_share(timestamp now);
};
BOOST_DESCRIBE_STRUCT(sleeptime_job, (),
                      (group, agent, conversation, companion, acting, accepted, waiting, upto, first_trigger,
                       begins_at, working, last_error, next))

// Which job it is: 48 bytes.
std::string place_of(const sleeptime_job& j);
std::optional<sleeptime_job> find_job(const reader& r, const sleeptime_job& like);
std::vector<sleeptime_job> jobs_of_group(const reader& r, const group_id& g);
std::vector<sleeptime_job> jobs_of_org(const reader& r, const org_id& org);
// Due ones, the oldest first, until the visitor gives false.
void due_jobs(const reader& r, timestamp now, const std::function<bool(sleeptime_job)>& visit);
std::optional<timestamp> next_due(const reader& r);
// The run belongs to such a job, and the job goes on.
bool is_sleeptime_run(const reader& r, const run_id& id);
void put_job(transaction& t, const sleeptime_job& j);
// A run for it, as it begins; not stored.
run companion_run(const sleeptime_job& j, environment& env);

// -- in the batch that ends a turn ----------------------------------------------------------------
// Of an agent with companions: they are to be told, where it is time. Of a companion: its job ends with it. `row` is the
// run as it ended; not stored yet.
void turn_ended(transaction& t, run& row, environment& env, step_report* report);
// In the batch of every step: a voice agent's companion may have stored memories.
void step_taken(transaction& t, const turn::step_commit& s, timestamp now);
// A run that was ended without its turn: cancelled, given up.
void run_ended(transaction& t, const run& row);
// The group that hears what is said to this agent.
std::optional<group> sleeptime_group_of(const reader& r, const agent& a);

// -- ends -----------------------------------------------------------------------------------------
// What waits is cancelled; what is at work goes on.
void cancel_waiting(transaction& t, sleeptime_job j, environment& env);
// All of it is cancelled.
void forget_job(transaction& t, const sleeptime_job& j, environment& env);
// Of a group: sleeptime was switched off; it is gone, or this companion left it.
void cancel_waiting_jobs(transaction& t, const group_id& g, environment& env);
void forget_jobs(transaction& t, const group_id& g, const std::optional<agent_id>& companion,
                 environment& env);
// Of a conversation that is deleted.
void forget_thread(transaction& t, const agent_id& agent, const conversation_id& c, environment& env);

} // namespace troupe::storage
