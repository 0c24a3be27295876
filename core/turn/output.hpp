// What a turn sends to its client: the body of a blocking answer, the events of a stream (reference: agent-loop §4.2,
// §5). Pure: messages and outcomes in, texts out.
#pragma once

#include "core/base/environment.hpp"
#include "core/turn/compaction.hpp"
#include "core/turn/failure.hpp"

namespace troupe::turn {

// One event of a stream: JSON text, or [DONE].
struct frame {
  std::string data;
  bool is_error = false; // event: error
};

// The first event, from which clients learn the run's id; also sent when nothing happens for a while.
std::string ping(const run_id& run, timestamp now, environment& env,
                 const std::optional<std::int64_t>& seq_id);

// The API's messages of a step, for a stream: what its client asked for, without the automatic ones.
std::vector<frame> frames_of(const std::vector<stored_message>& messages, const project::options& view,
                             const std::optional<std::vector<message_type>>& types);

// The events around a compaction (reference: agent-loop §9.5): before it, and the summary after it.
std::string compaction_event(const compaction_stats& stats, const run_id& run,
                             const std::optional<step_id>& step, environment& env);
std::string summary_event(const message& m, const std::string& summary, const compaction_stats& stats);
std::string summary_as_user_message(const message& m);

// The end of a stream.
std::vector<frame> closing_frames(const finished& f, const run_id& run, mode how, bool visible, bool tokens);

// LettaResponse.
std::string response_body(const std::vector<project::api_message>& messages, const finished& f,
                          const std::optional<std::vector<message_type>>& types);
std::string response_body(const std::vector<stored_message>& messages, const finished& f,
                          const project::options& view,
                          const std::optional<std::vector<message_type>>& types);

} // namespace troupe::turn
