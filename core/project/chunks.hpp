// A model's tokens -> the chunks of a token stream (reference: agent-loop §5.3). One object serves one call of the
// model; every chunk carries the id under which the message will be stored.
#pragma once

#include "core/project/messages.hpp"

namespace troupe::project {

// One piece of a reply, in the order in which the provider sent it.
struct delta {
  enum class kind { text, reasoning, hidden_reasoning, tool_call } what = kind::text;
  std::string text;                     // text, reasoning; tool_call: a piece of the arguments
  std::string call_id;                  // tool_call
  std::string call_name;                // tool_call: where the provider named it in this piece
  std::optional<std::string> signature; // reasoning
  std::string redacted;                 // hidden_reasoning: empty where it was merely omitted
};

struct chunk_target {
  message_id id;
  step_id step;
  run_id run;
  // Names whose calls wait for approval: their pieces are approval requests.
  std::vector<std::string> gated;
  std::optional<std::vector<message_type>> types; // what the client wants to see; nothing: all
};

class chunk_projector {
public:
  explicit chunk_projector(chunk_target target) : t_(std::move(target)) {}

  // The chunk's JSON text; nothing where the client does not want its type or there is nothing to show.
  std::optional<std::string> next(const delta& d, timestamp now);

private:
  bool gated(const delta& d);
  std::string call_chunk(const delta& d, timestamp now);
  std::string approval_chunk(const delta& d, timestamp now);

  chunk_target t_;
  std::optional<message_type> last_;
  unsigned index_ = 0;
  std::vector<std::pair<std::string, std::string>> names_; // call id -> name
};

// The id of the approval request that belongs to a streamed message: its uuid minus one.
message_id approval_id_for(const message_id& id);

} // namespace troupe::project
