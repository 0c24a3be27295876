// The map: every actor's typed interface, one comment line a message. Between actors/ and net/ there is this header
// and nothing else.
//
//   front ──turn──> directory ──> agent ──write──> store (one detached thread, group commit)
//     │                             ├──call──> models (I/O thread: curl, rehearsal)
//     └──query──> query workers     ├──job──> sandbox (I/O thread: Python processes for tools)
//                                   └──publish──> streams (I/O thread: event logs of runs)
#pragma once

#include "actors/caf_support.hpp"
#include "core/protocol/model_request.hpp"
#include "storage/turns.hpp"

#include <caf/all.hpp>

namespace troupe::actors {

// -- what travels ---------------------------------------------------------------------------------
// One atomic batch for the store.
struct write {
  // `later`: with many others, after a second at the latest; what a crash takes until then is not missed. `with_rest`:
  // now, and all of those with it. `beside`: with the next that are written now, so that nobody waits for a commit of
  // its own; alone where none comes soon.
  enum class when { now, beside, later, with_rest };
  std::string name;
  std::function<result<void>(storage::transaction&)> apply;
  when due = when::now;
};

// A read that is too long for the I/O thread: runs on a worker, against a snapshot of its own; gives a body.
struct query {
  std::function<result<std::string>(const storage::reader&)> run;
};

// A request for a turn.
using turn_order_ptr = std::shared_ptr<const storage::turn_order>;

// The answer to it. Blocking: the finished response. Streams and asynchronous ones: accepted, the run is durable.
struct turn_answer {
  std::string body;
  std::optional<run_id> run; // whose answer it is: of an earlier request where this one repeats it
  std::int64_t tokens = 0;   // of an errand: what it used, with what those used whom it asked
};

// Work on a context that must not meet a running turn (reset, compaction, deletion). Done as one batch.
struct exclusive_edit {
  write batch;
};

// A call of a model, made up by the agent: where it goes, and how.
struct model_call {
  llm_config config;
  bool stream = false;
  project::chunk_target chunks; // of a token stream
  std::int64_t timeout_ms = 600'000;
};
using model_call_ptr = std::shared_ptr<const model_call>;
// Its body, in the provider's protocol. Beside it because it is large, and not needed once the answer has begun.
using model_body_ptr = std::shared_ptr<const std::string>;

struct model_result {
  result<model_reply> reply;
  std::int64_t duration_ns = 0;
  bool visible = false; // tokens went out before it ended
};
using model_result_ptr = std::shared_ptr<const model_result>;

// Work for a Python process of its own: a JSON object (core/tools/custom_tool.hpp); the answer is JSON too.
struct sandbox_job {
  uuid id;
  std::string body;
};
using sandbox_job_ptr = std::shared_ptr<const sandbox_job>;

// One event of a run, as JSON text (or [DONE]).
struct stream_frame {
  std::string data;
  bool is_error = false;
};
// The run is durable: its stream may be seen. `first` comes before anything that was published meanwhile.
struct open_stream {
  run_id run;
  bool background = false;
  std::optional<stream_frame> first;
};
struct publish {
  run_id run;
  std::vector<stream_frame> frames;
  bool last = false;
};

// What an actor says of itself.
struct actor_status {
  std::string name;
  std::size_t queued = 0;
  std::size_t busy = 0;
  std::size_t resident = 0;
};

} // namespace troupe::actors

// -- registration: everything of ours stays inside one process for now ----------------------------
#define TROUPE_LOCAL_TYPES(X)                                                                                \
  X(troupe::actors::write)                                                                                   \
  X(troupe::actors::query)                                                                                   \
  X(troupe::actors::turn_order_ptr)                                                                          \
  X(troupe::actors::turn_answer)                                                                             \
  X(troupe::actors::exclusive_edit)                                                                          \
  X(troupe::actors::model_call_ptr)                                                                          \
  X(troupe::actors::model_body_ptr)                                                                          \
  X(troupe::actors::model_result_ptr)                                                                        \
  X(troupe::actors::sandbox_job_ptr)                                                                         \
  X(troupe::actors::open_stream)                                                                             \
  X(troupe::actors::publish)                                                                                 \
  X(troupe::actors::actor_status)                                                                            \
  X(troupe::uuid)

CAF_BEGIN_TYPE_ID_BLOCK(troupe, first_custom_type_id)
#define TROUPE_ADD_TYPE(T) CAF_ADD_TYPE_ID(troupe, (T))
TROUPE_LOCAL_TYPES(TROUPE_ADD_TYPE)
#undef TROUPE_ADD_TYPE
CAF_ADD_ATOM(troupe, troupe::actors, cancel_atom, "cancel")
CAF_ADD_ATOM(troupe, troupe::actors, abandon_atom, "abandon")
CAF_ADD_ATOM(troupe, troupe::actors, callback_atom, "callback")
CAF_ADD_ATOM(troupe, troupe::actors, hint_atom, "hint")
CAF_ADD_ATOM(troupe, troupe::actors, retire_atom, "retire")
CAF_ADD_ATOM(troupe, troupe::actors, status_atom, "status")
CAF_ADD_ATOM(troupe, troupe::actors, stop_atom, "stop")
CAF_END_TYPE_ID_BLOCK(troupe)

#define TROUPE_LOCAL_ONLY(T) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(T)
TROUPE_LOCAL_TYPES(TROUPE_LOCAL_ONLY)
#undef TROUPE_LOCAL_ONLY

namespace troupe::actors {

using caf::flush_atom;
using caf::tick_atom;
using done = caf::ok_atom; // the answer of what has no value

// -- interfaces -----------------------------------------------------------------------------------
// The only writer. Batches that wait together are committed together; an answer means durable.
using store_actor =
    caf::typed_actor<caf::replies_to<write>::with<done>,                // one batch
                     caf::reacts_to<flush_atom>,                        // to itself: commit what is here
                     caf::reacts_to<tick_atom>,                         // to itself: and what can wait
                     caf::replies_to<status_atom>::with<actor_status>>; // how long its queue is

// Reads against snapshots, on the workers.
using query_actor = caf::typed_actor<caf::replies_to<query>::with<std::string>>; // one read, its body

// One context (an agent's default thread, or a conversation): its turns, one after another.
using agent_actor =
    caf::typed_actor<caf::replies_to<turn_order_ptr>::with<turn_answer>, // one turn; queued, bounded
                     caf::replies_to<exclusive_edit>::with<done>,        // a batch between turns
                     caf::replies_to<cancel_atom, uuid>::with<bool>,     // cancel a run; false: not here
                     caf::reacts_to<tick_atom>,                          // from the directory: deadlines
                     caf::replies_to<retire_atom>::with<bool>,           // leave if idle
                     caf::replies_to<status_atom>::with<actor_status>>;

// Finds or activates the actor of a context; retires idle ones.
using directory_actor =
    caf::typed_actor<caf::replies_to<turn_order_ptr>::with<turn_answer>,   // to the context's actor
                     caf::replies_to<uuid, exclusive_edit>::with<done>,    // to the context's actor
                     caf::replies_to<cancel_atom, uuid, uuid>::with<bool>, // context, run
                     caf::reacts_to<tick_atom>, // to itself: wake busy ones, look for idle ones
                     caf::reacts_to<stop_atom>, // end all of them
                     caf::replies_to<status_atom>::with<actor_status>>;

// Lets the companions of agents work in the background. What there is to do is in the store; nothing is kept here.
using sleeper_actor = caf::typed_actor<caf::reacts_to<caf::actor>, // the directory: begin
                                       caf::reacts_to<hint_atom>,  // something may be due
                                       caf::reacts_to<tick_atom>,  // to itself
                                       caf::replies_to<status_atom>::with<actor_status>>; // what is under way

// Calls models. Every call is answered, at the latest when its time is up.
using models_actor =
    caf::typed_actor<caf::replies_to<model_call_ptr, model_body_ptr>::with<model_result_ptr>, // one call
                     caf::reacts_to<abandon_atom, uuid>>; // the call of that step is not wanted any more

// Runs Python: tools made from source. Every job is answered, at the latest when its time is up.
using sandbox_actor = caf::typed_actor<caf::replies_to<sandbox_job_ptr>::with<std::string>, // one job
                                       caf::reacts_to<abandon_atom, uuid>>;                 // end that job

// The event logs of runs.
using streams_actor = caf::typed_actor<caf::reacts_to<open_stream>,          // from now on readers see it
                                       caf::reacts_to<publish>,              // append
                                       caf::reacts_to<callback_atom, uuid>>; // the run ended: call back

} // namespace troupe::actors
