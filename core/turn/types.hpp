// The vocabulary of a turn: what goes into it, what happens to it, what it wants done. A turn is a state machine;
// the actor that runs it feeds it events and carries out its effects (design: one batch a step, nothing emitted
// before it is durable).
#pragma once

#include "core/base/rare.hpp"
#include "core/group/state.hpp"
#include "core/protocol/model_request.hpp"
#include "core/schema/agent.hpp"
#include "core/schema/message_request.hpp"
#include "core/schema/run.hpp"
#include "core/tools/core_tools.hpp"
#include "core/turn/errand.hpp"

namespace troupe::turn {

using stored_message = std::shared_ptr<const message>;

// How the request is answered; decides what its run ends as (reference: agent-loop §6.2).
enum class mode { blocking, stream, background, async };
BOOST_DESCRIBE_ENUM(mode, blocking, stream, background, async)
// What happens goes out as events.
constexpr bool has_events(mode how) { return how == mode::stream || how == mode::background; }

// Compaction by request, in place of a turn (reference: agent-loop §9.6).
struct compaction_request {
  compaction_settings settings;
  bool takes_what_is_there = false; // of an agent: where only a summary is left, that is the answer
};
BOOST_DESCRIBE_STRUCT(compaction_request, (), (settings, takes_what_is_there))

// What a turn has to know of its agent. The rest, its longest texts among it, stays in the store while models think.
struct agent_traits {
  agent_id id;
  org_id organization_id;
  std::optional<std::string> project_id;
  std::string name;
  agent_type type = agent_type::letta_v1_agent;
  std::string timezone = "UTC";
  std::vector<tool_rule> tool_rules;
  bool message_buffer_autoclear = false;
  compaction_settings compaction;
  std::optional<json::object> response_format;
  std::vector<std::string> tags;
};

// Everything that a turn reads, taken from one snapshot at its start.
struct input {
  agent_traits self;
  std::vector<shared_tool> tools;         // attached ones, in order
  std::vector<stored_message> in_context; // the system message first
  llm_config llm;                         // after overrides
  std::optional<conversation_id> conversation;
  actor acting;
  run_id run;
  timestamp run_started;
  send_request request;
  mode how = mode::blocking;
  bool tokens = false;         // the model's tokens go out as they come
  rare<llm_config> summarizer; // of compactions, where it is not the model above
  rare<compaction_request> compaction;
  rare<errand> part_of;             // other work
  std::optional<group_id> heard_by; // a sleeptime group: what is said to the agent carries its id
  stored_message
      last_tool; // the newest tool message of the history, where the context has only a summary left
};

// -- what is made durable -------------------------------------------------------------------------
struct run_end {
  run_status status = run_status::completed;
  std::optional<stop_reason> reason;
  json::object metadata; // merged into the run's
};

// The context becomes the system message, the summary (which is new) and what is there without these: what others
// appended while the summary was made stays.
struct context_rewrite {
  stored_message summary;
  std::vector<message_id> dropped;
  bool recompile = false; // the system message too
};

// A message that is left for another agent: its turn is stored with the step, and begins when that is durable.
struct tell {
  run_id run;
  agent_id to;
  std::string text;
};

// One atomic batch. The precondition of every batch: the agent is there and the run has not ended.
struct step_commit {
  agent_id agent;
  std::optional<conversation_id> conversation;
  run_id run;
  std::optional<step> step_;
  std::vector<stored_message> messages; // appended to the history and, in order, to the context
  bool autoclear = false;               // the context is emptied down to its system message first
  bool history_only = false;            // the messages do not enter the context
  std::optional<context_rewrite> rewrite;
  std::vector<tools::memory_edit> edits;
  std::vector<tool_id> tools_used;
  std::vector<tell> tells;
  bool started = false; // the run becomes `running`
  std::optional<run_end> end;
  std::optional<stop_reason> last_stop_reason; // of the agent
};

// -- effects --------------------------------------------------------------------------------------
struct call_model {
  model_request request;
  project::chunk_target chunks; // where the tokens of a token stream go
};

struct tool_invocation {
  tool_call call;         // arguments as they will be stored
  json::object arguments; // parsed
  tool_id id;
};
struct run_tools {
  std::vector<tool_invocation> calls;
  std::optional<step_commit>
      if_lost{}; // to be durable before they run: they may act outside, and the server die
  std::vector<tools::block_change> kept{}; // what calls did to blocks that are not run again
};
struct commit {
  step_commit batch;
};
// What clients see of a step that is durable now. In a token stream only what the tokens did not show.
struct emit {
  std::vector<stored_message> messages;
};
// Events that are no messages of the step.
struct say {
  std::vector<std::string> bodies;
};
struct abandon_model {};
struct abandon_tools {}; // those that run elsewhere are ended
struct finished {
  std::optional<stop_reason> reason;
  std::optional<error> failure;
  usage_statistics usage;
  bool durable = true;        // the end of the run is stored
  bool visible = false;       // something of the turn went out before
  std::string body{};         // of the answer, where it is no response to messages
  bool says_why_late = false; // a failure after something went out is told as one before it
};

// -- of a group's run, which is a turn whose steps are turns of others
struct advance_group { // one batch; what it begins is begun when it is durable
  group_run::step batch;
};
struct await_parts { // after a restart
  std::vector<group_run::part> parts;
};
struct recall_parts {
  std::vector<group_run::part> parts;
};

using effect = std::variant<call_model, run_tools, commit, emit, say, abandon_model, abandon_tools, finished,
                            advance_group, await_parts, recall_parts>;
using effects = std::vector<effect>;

inline void append(effects& out, effects more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// -- events ---------------------------------------------------------------------------------------
struct started {};
struct model_replied {
  model_reply reply;
  std::int64_t duration_ns = 0;
};
struct model_failed {
  error why;
  std::int64_t duration_ns = 0;
  bool visible = false; // tokens of the reply went out already
};
struct tool_outcome {
  std::string call_id;
  tools::tool_result result;
  bool once = false; // it had effects outside: it is not run again, whatever becomes of the batch
  std::vector<tools::block_change> blocks{};
  std::vector<tell> tells{};
};
struct tools_finished {
  std::vector<tool_outcome> outcomes;
  std::vector<tools::memory_edit> edits;
  std::int64_t duration_ns = 0;
};
struct committed {
  std::optional<std::vector<std::string>>
      run_ids; // of the work in the background that the end of the turn set off
};
struct commit_failed {
  error why; // errc::conflict: a block has moved on, the tools have to run again
};
struct cancel {};
struct part_ended { // of a group's run
  group_run::outcome what;
  group_run::view now;
};

using event = std::variant<started, model_replied, model_failed, tools_finished, committed, commit_failed,
                           cancel, part_ended>;

// A turn. Not thread safe; lives inside one actor.
class machine {
public:
  virtual ~machine() = default;
  virtual effects handle(event e) = 0;
  // How clients see what the turn stores.
  virtual project::options view() const = 0;
  // The request whose streamed reply it waits for, once more: it is the same as long as nothing has happened.
  virtual model_request request() const { return {}; }
};

} // namespace troupe::turn
