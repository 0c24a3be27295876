// The actor of one context: an agent's default thread, or a conversation. It keeps an explicit queue (never `skip`,
// never `await`), runs one turn at a time, feeds the turn's state machine with events and carries out its effects.
// It holds no state of the agent between turns: everything is read anew at the start of each.
#pragma once

#include "actors/actors.hpp"
#include "actors/busy_contexts.hpp"
#include "actors/foreground.hpp"
#include "actors/tool_round.hpp"
#include "actors/wait_graph.hpp"
#include "core/base/environment.hpp"
#include "core/base/rare.hpp"
#include "core/turn/output.hpp"
#include "storage/traces.hpp"

#include <list>
#include <map>

namespace troupe::actors {

struct agent_limits {
  std::size_t max_queue = 256; // turns that may wait; more are refused with 429
  std::chrono::milliseconds model_timeout{
      600'000}; // of one call of the model, as the agent's own last resort
  storage::trace_limits traces;
};

// What the actors of contexts share. Outlives them.
struct agent_deps {
  std::shared_ptr<storage::database> db;
  environment* env = nullptr;
  store_actor store;
  models_actor models;
  sandbox_actor sandbox; // none: tools from source do not run
  streams_actor streams;
  sleeper_actor sleeper; // nothing where nobody works in the background
  std::shared_ptr<wait_graph> waits = std::make_shared<wait_graph>();
  std::shared_ptr<busy_contexts> busy = std::make_shared<busy_contexts>();
  std::shared_ptr<foreground> front = std::make_shared<foreground>();
  agent_limits limits;
};
using agent_deps_ptr = std::shared_ptr<const agent_deps>;

// One thing in the queue of a context: a turn, or a batch between turns.
struct context_job {
  turn_order_ptr order;
  reply<turn_answer> answer;
  std::optional<exclusive_edit> batch;
  reply<done> batch_answer;
  std::vector<reply<turn_answer>> repeats; // of the same request
  std::vector<reply<bool>> cancels;        // who wants it to end
  bool accepted = false;                   // the run is durable, and its client knows

  template <class T> void deliver(const T& what) {
    answer.deliver(what);
    for (auto& r : repeats) r.deliver(what);
  }
};

inline constexpr const char* too_many_hops = "too many agents wait for each other";

struct running_turn {
  context_job work;
  foreground::turn in_front; // where somebody waits for it
  std::unique_ptr<turn::machine> machine;
  std::list<turn::event> events; // to be handled; as the queue below
  bool handling = false;
  std::vector<turn::stored_message> shown; // for a blocking answer
  std::unique_ptr<tool_round> round;       // while tools run
  std::optional<step_id> calling;          // the step whose model call is out
  std::int64_t call_deadline_ns = 0;
  std::vector<std::string> agent_tags;
  std::shared_ptr<const provider_trace> trace; // of the last call, until its step is stored
  std::map<run_id, uuid> errands;    // turns of others that it waits for, and in whose mailbox they are
  std::int64_t tokens_of_others = 0; // that errands have used
};

// The batch that ends a run, and nothing else.
turn::step_commit end_of(const run& row, turn::run_end how);
// The same of one that failed, with what clients are told.
turn::step_commit failed_end(const run& row, const std::string& why,
                             std::optional<stop_reason> reason = stop_reason::error);

class context_runner {
public:
  context_runner(agent_actor::pointer self, agent_deps_ptr deps, directory_actor others)
      : self_(self), deps_(std::move(deps)), others_(std::move(others)) {}

  void submit(turn_order_ptr order, reply<turn_answer> answer);
  void edit(exclusive_edit e, reply<done> answer);
  // Answered when the run has ended, and that is durable; false where it neither waits nor runs here.
  void cancel(const run_id& run, reply<bool> answer);
  void tick();
  bool idle() const noexcept {
    return !running_ && !editing_ && queue_.empty() && unfinished_.empty() && ends_out_ == 0;
  }
  actor_status status() const;

private:
  using job = context_job;

  bool repeats(const turn_order_ptr& order, reply<turn_answer>& answer);
  bool refused(const turn_order_ptr& order, reply<turn_answer>& answer);
  void interrupt();
  void store_run(const turn_order_ptr& order);
  void run_stored(const run_id& run);
  void run_refused(const run_id& run, const error& why);
  job* find_job(const run_id& run);
  std::optional<job> take_queued(const run_id& run);

  void start_next();
  void start_turn(job work);
  void start_edit(job work);
  void feed(turn::event e);
  void carry_out(turn::effect e);
  void carry_out(turn::call_model e);
  void carry_out(turn::run_tools e);
  void carry_out(turn::commit e);
  void carry_out(turn::emit e);
  void carry_out(turn::say e);
  void carry_out(turn::abandon_model e);
  void carry_out(turn::abandon_tools e);
  void carry_out(turn::finished e);
  void carry_out(turn::advance_group e);
  void carry_out(const turn::await_parts& e);
  void carry_out(const turn::recall_parts& e);

  void ask_others(tool_round& round, std::size_t i);
  result<std::vector<agent_id>> whom(const tool_round& round, const tools::ask& a) const;
  turn::tool_outcome leave_message(const tool_round& round, std::size_t i, const agent_id& to,
                                   const tools::ask& a) const;
  std::shared_ptr<storage::turn_order> order_to(const agent_id& to, const run_id& run, std::string text,
                                                turn::errand as) const;
  std::shared_ptr<storage::turn_order> errand_to(const agent_id& to, const run_id& run,
                                                 turn::errand as) const;
  // `ended` hears that the turn is over, or why it could not be; nothing once the asking turn is over itself.
  void hand_over(const turn_order_ptr& errand, std::function<void(const error*)> ended);
  void ask_one(tool_round& round, std::size_t i, std::size_t k);
  void other_answered(std::size_t i, const run_id& run, const error* why);
  void finish_ask(tool_round& round, std::size_t i);
  std::vector<turn_order_ptr> orders_for(const std::vector<turn::tell>& tells) const;
  std::int64_t hops_left() const;
  std::int64_t tokens_left() const; // for those whom this turn asks
  std::vector<std::string> names_of(const std::vector<uuid>& contexts) const;

  turn_order_ptr errand_for(const group_run::assignment& a) const;
  void give(const turn_order_ptr& errand);
  void part_ended(const run_id& run, const error* why);

  void begin_tools();
  void go_on_with_tools();
  tools::memory& blocks_of(tool_round& round);
  void change_blocks(tool_round& round, const std::vector<tools::block_change>& changes);
  void run_here(tool_round& round, std::size_t i);
  void run_outside(tool_round& round, std::size_t i, const tool& t);
  void tool_answered(std::size_t i, const result<std::string>& answer);
  void finish_tools();

  void keep_trace(const model_call& call, const model_body_ptr& body, const result<model_reply>& reply);
  void store_trace(const std::shared_ptr<const provider_trace>& trace);

  void end_queued(job work);
  void answer_client(job& work, const turn::finished& e, const std::vector<turn::stored_message>& shown,
                     const project::options& view, std::int64_t tokens = 0);
  void store_end(std::string name, turn::step_commit end,
                 const std::function<void(const error*)>& then = nullptr);
  void publish_frames(const run_id& run, std::vector<turn::frame> frames, bool last);
  // Whose events the running turn's are: its own run's, or those of the work that it is part of.
  std::optional<run_id> shown_in_stream() const;
  void keep_for_later(turn::step_commit end, const error& why);
  void retry_unfinished();
  void end_what_is_late();
  // Whether this context is to be woken now and then, for its deadlines.
  void watch_deadlines();

  agent_actor::pointer self_;
  agent_deps_ptr deps_;
  directory_actor others_;
  std::list<job> queue_; // not a deque: an empty one takes half a KiB, and there are as many as contexts
  rare<running_turn> running_;
  bool editing_ = false;
  std::uint64_t epoch_ = 0; // of the running turn: answers to an older one are dropped
  bool watched_ = false;
  std::vector<turn::step_commit> unfinished_; // ends of runs that could not be stored; tried again
  std::size_t ends_out_ = 0;                  // ends of runs that are with the store
};

struct agent_state {
  agent_state() = default; // not an aggregate
  static inline const char* name = "agent";
  std::unique_ptr<context_runner> runner;
};

agent_actor::behavior_type agent_context(agent_actor::stateful_pointer<agent_state> self, agent_deps_ptr deps,
                                         directory_actor others);

} // namespace troupe::actors
