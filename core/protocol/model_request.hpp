// A request to a language model and its reply, independent of any provider's protocol.
#pragma once

#include "core/base/error.hpp"
#include "core/base/shared_value.hpp"
#include "core/project/chunks.hpp"
#include "core/schema/message.hpp"
#include "core/schema/model.hpp"
#include "core/schema/tool.hpp"

#include <memory>

namespace troupe {

struct offered_tool {
  std::string name;
  std::string description;
  shared_value<json::object> parameters; // JSON Schema of an object
  bool strict = false;                   // the provider keeps calls to it
};

// A tool as its schema describes it; empty where it has none. The parameters stay the tool's.
offered_tool offered(const shared_tool& t);

struct tool_choice {
  enum class kind { none, automatic, required, named } what = kind::automatic;
  std::string name; // where named
};

struct model_request {
  llm_config config;
  std::vector<std::shared_ptr<const message>> messages; // the system message first
  std::optional<std::string> system_override;           // replaces the text of the system message
  std::string system_suffix;                            // appended to it, this request only
  std::vector<offered_tool> tools;
  tool_choice choice;
  bool parallel_tool_calls = false;
  std::string user; // id of the acting user, for the provider's own bookkeeping
  bool stream = false;
  std::optional<json::object> response_format;
};

// Tokens of one call; what a provider did not report is absent.
struct token_usage {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;
  std::int64_t total = 0;
  std::optional<std::int64_t> cached_input;
  std::optional<std::int64_t> cache_write;
  std::optional<std::int64_t> reasoning;
};

struct model_reply {
  std::vector<content_part> content; // reasoning and text, in order
  std::vector<tool_call> calls;      // arguments as the model wrote them
  std::optional<std::string> finish_reason;
  token_usage usage;
  std::string raw; // the provider's reply as text, for the trace; empty for a stream
};

// What a failed call is: the class that the API's step shows (LLMRateLimitError, ...) goes into extra["class"].
error llm_failure(errc code, std::string_view error_class, std::string message);
std::string_view llm_error_class(const error& e);

// The character budget that a tool result may take in a prompt (reference: agent-loop §2.2).
constexpr std::int64_t tool_return_budget(std::int64_t context_window) {
  auto share = static_cast<std::int64_t>(static_cast<double>(context_window) * 0.2 * 4);
  return share > 5000 ? share : 5000;
}
std::string cut_for_prompt(const std::string& text, std::int64_t budget);

} // namespace troupe
