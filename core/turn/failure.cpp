#include "core/turn/failure.hpp"

namespace troupe::turn {

bool is_worth_another_try(const error& e) {
  switch (e.code) {
  case errc::llm_rate_limit:
  case errc::llm_timeout:
  case errc::llm_error:
  case errc::llm_overloaded:
  case errc::llm_empty_response: return true;
  default: return false;
  }
}

std::string_view llm_error_type(errc code) {
  switch (code) {
  case errc::llm_rate_limit: return "llm_rate_limit";
  case errc::llm_insufficient_credits: return "llm_insufficient_credits";
  case errc::llm_authentication: return "llm_authentication";
  case errc::llm_bad_request: return "llm_bad_request";
  case errc::llm_timeout: return "llm_timeout";
  case errc::llm_empty_response: return "llm_empty_response";
  default: return "llm_error";
  }
}

std::string_view llm_error_sentence(errc code) {
  switch (code) {
  case errc::llm_rate_limit:
    return "Rate limit exceeded for LLM model provider. Please wait before making another request.";
  case errc::llm_insufficient_credits:
    return "Insufficient credits for LLM request. Please check your account.";
  case errc::llm_authentication: return "Authentication failed with the LLM model provider.";
  case errc::llm_bad_request: return "The request to the LLM model provider was invalid.";
  case errc::llm_timeout: return "The LLM request timed out. Please try again.";
  case errc::llm_empty_response: return "LLM returned an empty response.";
  default: return "An error occurred with the LLM request.";
  }
}

namespace {

// Errors of the API itself carry their code in front; only those show their text as the message.
bool has_code(std::string_view text) {
  auto colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  for (char c : text.substr(0, colon))
    if (!(c >= 'A' && c <= 'Z') && c != '_') return false;
  return true;
}

// In streams only these kinds have a type of their own.
std::string_view stream_error_type(errc code) {
  switch (code) {
  case errc::llm_timeout:
  case errc::llm_rate_limit:
  case errc::llm_authentication:
  case errc::llm_empty_response: return llm_error_type(code);
  default: return "llm_error";
  }
}

std::string_view stream_sentence(errc code) {
  return stream_error_type(code) == "llm_error" ? llm_error_sentence(errc::llm_error)
                                                : llm_error_sentence(code);
}

} // namespace

failure_shape shape_of(const error& e, bool visible) {
  failure_shape s;
  s.detail = e.message;
  bool of_model =
      is_llm_error(e.code) && e.code != errc::llm_context_window; // an error of the turn, as clients see it
  if (of_model)
    s.reason =
        e.code == errc::llm_empty_response ? stop_reason::invalid_llm_response : stop_reason::llm_api_error;
  if (e.code == errc::system_prompt_overflow)
    s.reason = stop_reason::context_window_overflow_in_system_prompt;
  if (e.code == errc::cancelled) s.reason = stop_reason::cancelled;
  if (e.code == errc::system_prompt_overflow) {
    s.error_type = "context_window_overflow_in_system_prompt";
    s.message =
        "Compaction failed because the system prompt is too large for this model's context window. Reduce "
        "system instructions, memory blocks, or tools, or use a model with a larger context window.";
  } else if (visible) {
    s.error_type = "internal_error";
    s.message = "An error occurred during agent execution.";
  } else if (of_model) {
    s.error_type = stream_error_type(e.code);
    s.message = stream_sentence(e.code);
  } else {
    s.error_type = "internal_error";
    s.message = has_code(e.message) ? e.message : "An unknown error occurred with the LLM streaming request.";
  }
  return s;
}

json::object error_message(const run_id& run, const failure_shape& shape) {
  json::object out;
  out["message_type"] = "error_message";
  out["run_id"] = boost::json::string(run.str());
  out["error_type"] = boost::json::string(shape.error_type);
  out["message"] = boost::json::string(shape.message);
  out["detail"] = boost::json::string(shape.detail);
  out["seq_id"] = nullptr;
  return out;
}

} // namespace troupe::turn
