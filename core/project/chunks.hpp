// A model's tokens -> the chunks of a token stream (reference: agent-loop §5.3). One object serves one call of the
// model; every chunk carries the id under which the message will be stored.
#pragma once

#include "core/project/inner_stream.hpp"
#include "core/project/messages.hpp"

namespace troupe::project {

struct chunk_target {
  message_id id;
  step_id step;
  run_id run; // whose stream it is
  // Names whose calls wait for approval: their pieces are approval requests.
  std::vector<std::string> gated;
  std::optional<std::vector<message_type>> types; // what the client wants to see; nothing: all
  std::optional<inner_view> inner;                // of an older loop
  std::optional<std::string> name{};              // who speaks, in a group
};

class chunk_projector {
public:
  explicit chunk_projector(chunk_target target) : t_(std::move(target)) {
    if (t_.inner) inner_.emplace(*t_.inner);
  }

  // The chunks as JSON texts; none where the client does not want their type or there is nothing to show.
  std::vector<std::string> next(const delta& d, timestamp now);
  // The same at the end of the reply: what had to wait.
  std::vector<std::string> finish(timestamp now);

private:
  std::vector<std::string> chunks_of(const std::vector<delta>& deltas, timestamp now);
  std::optional<std::string> chunk_of(const delta& d, timestamp now);
  bool gated(const delta& d);
  std::string call_chunk(const delta& d, timestamp now);
  std::string approval_chunk(const delta& d, timestamp now);

  chunk_target t_;
  std::optional<inner_stream> inner_;
  std::optional<message_type> last_;
  unsigned index_ = 0;
  std::vector<std::pair<std::string, std::string>> names_; // call id -> name
};

// The id of the approval request that belongs to a streamed message: its uuid minus one.
message_id approval_id_for(const message_id& id);

} // namespace troupe::project
