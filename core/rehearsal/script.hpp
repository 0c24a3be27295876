// The built-in model: deterministic answers from a script (docs/rehearsal.md). The same request always gets
// the same answer; no key, no network. Pure: when to say what, and how long to wait, is decided here, the
// waiting is done by its provider.
#pragma once

#include "core/base/error.hpp"
#include "core/json/value.hpp"

#include <memory>

namespace troupe::rehearsal {

// One thing that an answer does.
struct action {
  enum class kind { reasoning, text, call, delay, error, hang } what = kind::text;
  std::string text;              // reasoning, text; error: the message
  std::string call_name;         // call
  std::string call_id;           // call: unlike any other of the request
  std::string arguments;         // call: JSON text
  std::int64_t milliseconds = 0; // delay
  int status = 500;              // error
};

struct performance {
  std::vector<action> actions;
  std::int64_t token_delay_ms = 0; // between the words of a stream
  std::optional<std::string> finish_reason;
  std::optional<json::value> usage; // as the provider's protocol reports it
};

class script {
public:
  virtual ~script() = default;
  // The answer to a request in the form of the Chat Completions protocol.
  virtual performance answer(const json::value& request) const = 0;
  virtual const std::string& name() const = 0; // of the model: rehearsal/<name>
  virtual std::int64_t context_window() const = 0;
};

// Reads a script. The error names the place.
result<std::unique_ptr<script>> parse_script(std::string_view text, std::string name);

} // namespace troupe::rehearsal
