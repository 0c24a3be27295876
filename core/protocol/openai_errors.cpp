// What the errors of OpenAI's protocols mean (reference: agent-loop §12).
#include "core/protocol/openai_chat.hpp"
#include "core/protocol/provider_errors.hpp"

namespace troupe::openai_chat {

bool says_context_too_long(std::string_view body) {
  for (std::string_view s :
       {"maximum context length", "context_length_exceeded", "exceeds the context window",
        "Input tokens exceed the configured limit", "exceeds the maximum allowed input length"})
    if (body.find(s) != std::string_view::npos) return true;
  return false;
}

namespace {

using provider_errors::no_credits;
using provider_errors::says_any;

bool says_no_credits(std::string_view text) {
  return says_any(text, {"insufficient credits", "requires more credits", "add more credits",
                         "exceeded your current quota", "you've exceeded your budget", "can only afford"}) ||
         (says_any(text, {"billing"}) && says_any(text, {"hard limit"}));
}

error context_too_long(const std::string& text) {
  return llm_failure(errc::llm_context_window, "ContextWindowExceededError",
                     "CONTEXT_WINDOW_EXCEEDED: " + text + " ({'is_byok': False})");
}

// Of statuses that have no kind of their own.
error other_error(int status, const std::string& detail) {
  if (status == 413) return context_too_long("Request too large for OpenAI (413): " + detail);
  if (status == 402 || says_no_credits(detail)) return no_credits(detail);
  if (status >= 500) return provider_errors::server_error("OpenAI", detail);
  return llm_failure(errc::llm_bad_request, "LLMBadRequestError",
                     "INVALID_ARGUMENT: OpenAI API error: " + detail);
}

} // namespace

error error_for(int status, std::string_view body) {
  auto detail = provider_errors::detail_of(status, body);
  auto make = [&](errc code, const char* cls, const char* prefix) {
    return llm_failure(code, cls, prefix + detail);
  };
  switch (status) {
  case 400:
    if (says_context_too_long(detail))
      return context_too_long("Bad request to OpenAI (context window exceeded): " + detail);
    return make(errc::llm_bad_request, "LLMBadRequestError",
                "INVALID_ARGUMENT: Bad request to OpenAI-compatible endpoint: ");
  case 401:
    return make(errc::llm_authentication, "LLMAuthenticationError",
                "UNAUTHENTICATED: Authentication failed with OpenAI: ");
  case 403:
    return make(errc::llm_error, "LLMPermissionDeniedError",
                "PERMISSION_DENIED: Permission denied by OpenAI: ");
  case 404: return make(errc::llm_error, "LLMNotFoundError", "NOT_FOUND: Resource not found in OpenAI: ");
  case 422:
    return make(errc::llm_error, "LLMUnprocessableEntityError",
                "INVALID_ARGUMENT: Invalid request content for OpenAI: ");
  case 429: return provider_errors::rate_limited("OpenAI", detail);
  default: return other_error(status, detail);
  }
}

// An error in the middle of a stream has no status: a number that it may have in its place, or its text says what it is.
error stream_error(const json::value& e) {
  if (auto code = json::int_or(e, "code", 0); code > 400 && code < 500)
    return error_for(static_cast<int>(code), json::print(json::object{{"error", e}}));
  auto said = json::string_or(e, "message");
  auto text = said.empty() ? std::string("An error occurred during streaming") : std::string(said);
  if (says_context_too_long(text))
    return context_too_long("OpenAI request exceeded the context window: " + text);
  if (says_no_credits(text)) return no_credits(text);
  return llm_failure(errc::llm_bad_request, "LLMBadRequestError",
                     "INVALID_ARGUMENT: OpenAI API error: " + text);
}

} // namespace troupe::openai_chat
