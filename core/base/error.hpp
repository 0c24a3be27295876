// The one error type of Troupe. Errors are values: functions that can fail return result<T>, actors carry them
// inside caf::error (actors/caf_support.hpp), and net/rest/errors.cpp turns them into the API's bodies.
#pragma once

#include <boost/json/object.hpp>
#include <boost/system/result.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace troupe {

// What went wrong, as the API's clients tell it apart (reference: agent-loop §12, resources §1.6).
// Numbers are part of nothing durable; the order may change.
enum class errc : std::uint8_t {
  invalid_body = 1,         // 422 with the list of field errors (extra.detail holds its text)
  unprocessable,            // 422 with a plain detail
  invalid_argument,         // 400
  unauthorized,             // 401
  not_found,                // 404
  method_not_allowed,       // 405
  conflict,                 // 409
  pending_approval,         // 409, extra: {pending_request_id}
  busy,                     // 409, extra: {run_id}
  gone,                     // 410
  payload_too_large,        // 413
  too_many_requests,        // 429 with Retry-After
  not_implemented,          // 501
  unavailable,              // 503
  storage_full,             // 507
  internal,                 // 500
  llm_rate_limit,           // 429, nested error body from here on
  llm_insufficient_credits, // 402
  llm_authentication,       // 401
  llm_bad_request,          // 400
  llm_timeout,              // 504
  llm_error,                // 500
  llm_overloaded,           // 503 with a plain detail: the provider has too much to do
  llm_context_window,       // 400: the provider says that the context is too long; compaction's trigger
  llm_empty_response,       // 500
  system_prompt_overflow,   // 400: no compaction helps
  cancelled,                // the work was cancelled; never reaches a client as it is
};

struct error {
  errc code = errc::internal;
  std::string message;       // the API's `detail` (for llm_*: the nested detail)
  boost::json::object extra; // further members of the body, where the code has any
};

// True for the codes whose body is {"error": {...}}.
constexpr bool is_llm_error(errc code) noexcept {
  return code >= errc::llm_rate_limit && code <= errc::llm_empty_response;
}

// Makes result<T>::value() throw something readable; code that checks first never gets here.
[[noreturn]] inline void throw_exception_from_error(const error& e, const boost::source_location&) {
  throw std::runtime_error("unchecked troupe::error: " + e.message);
}

template <class T> using result = boost::system::result<T, error>;

inline error fail(errc code, std::string message) { return error{code, std::move(message), {}}; }

// 400 as the API words it.
inline error invalid_argument(const std::string& message) {
  return error{errc::invalid_argument, "INVALID_ARGUMENT: " + message, {}};
}

} // namespace troupe
