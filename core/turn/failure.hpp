// What a failed turn looks like to its clients: the reason to stop, the error message of a stream, the body of a
// blocking answer (reference: agent-loop §5.4, §12).
#pragma once

#include "core/turn/types.hpp"

namespace troupe::turn {

// What a call returns that a crash interrupted.
constexpr const char* lost_call =
    "The server was restarted while this call was running. It may have had its effect, or not.";

struct failure_shape {
  stop_reason reason = stop_reason::error;
  std::string error_type;
  std::string message; // for people
  std::string detail;  // the error's own text
};

// `visible`: something of the turn went out before it failed.
failure_shape shape_of(const error& e, bool visible);

// True where the same request may well succeed later.
bool is_worth_another_try(const error& e);

// The sentence that goes with an LLM error's kind, and its name.
std::string_view llm_error_type(errc code);
std::string_view llm_error_sentence(errc code);

// {"message_type":"error_message","run_id":..,"error_type":..,"message":..,"detail":..,"seq_id":null}
json::object error_message(const run_id& run, const failure_shape& shape);

} // namespace troupe::turn
