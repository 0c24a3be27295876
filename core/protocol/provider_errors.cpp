#include "core/protocol/provider_errors.hpp"

#include "core/base/text.hpp"

namespace troupe::provider_errors {

std::string detail_of(int status, std::string_view body) {
  auto v = json::try_parse(body);
  auto shown =
      v ? json::python_repr(*v)
        : json::python_repr(text::is_utf8(body) ? body.substr(0, 2000) : std::string_view("(binary)"));
  return "Error code: " + std::to_string(status) + " - " + shown;
}

bool says_any(std::string_view text, std::initializer_list<std::string_view> phrases) {
  for (auto p : phrases)
    if (text::contains_ignoring_case(text, p)) return true;
  return false;
}

error rate_limited(std::string_view provider, const std::string& detail) {
  return llm_failure(errc::llm_rate_limit, "LLMRateLimitError",
                     "RATE_LIMIT_EXCEEDED: Rate limited by " + std::string(provider) + ": " + detail);
}

error no_credits(const std::string& detail) {
  return llm_failure(errc::llm_insufficient_credits, "LLMInsufficientCreditsError",
                     "PAYMENT_REQUIRED: Insufficient credits: " + detail);
}

error server_error(std::string_view provider, const std::string& detail) {
  return llm_failure(errc::llm_error, "LLMServerError",
                     "INTERNAL_SERVER_ERROR: " + std::string(provider) + " API error: " + detail);
}

error broken_stream(std::string_view provider, bool any) {
  std::string name(provider);
  return llm_failure(errc::llm_error, "LLMConnectionError",
                     any ? "INTERNAL_SERVER_ERROR: Connection to " + name +
                               " broke off in the middle of a stream"
                         : "INTERNAL_SERVER_ERROR: " + name + " sent an empty stream");
}

} // namespace troupe::provider_errors
