// One piece of a model's reply, in the order in which the provider sent it.
#pragma once

#include <optional>
#include <string>

namespace troupe::project {

struct delta {
  // `thoughts`: of a model that was asked to write them down, in the older loops.
  enum class kind { text, reasoning, hidden_reasoning, tool_call, thoughts } what = kind::text;
  std::string text;                     // text, reasoning; tool_call: a piece of the arguments
  std::string call_id;                  // tool_call
  std::string call_name;                // tool_call: where the provider named it in this piece
  std::optional<std::string> signature; // reasoning
  std::string redacted;                 // hidden_reasoning: empty where it was merely omitted
};

} // namespace troupe::project
