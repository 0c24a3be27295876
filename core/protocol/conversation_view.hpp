// The stored messages of a context as a conversation that a provider accepts (reference: agent-loop §2.2 step 4):
// every call with exactly one return, approvals folded into the replies they belong to.
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe {

// One turn of the conversation, referring to the stored messages.
struct conversation_turn {
  enum class kind { system, user, assistant, tool } what = kind::user;
  const message* source = nullptr;
  std::vector<const content_part*> parts; // user, assistant
  std::vector<const tool_call*> calls;    // assistant
  const tool_return* returned = nullptr;  // tool
};

// `messages` must outlive the result. A request for approval at the very end that nobody answered is left out, and
// so are calls without a return anywhere and returns without a call.
std::vector<conversation_turn>
conversation_turns(const std::vector<std::shared_ptr<const message>>& messages);

// -- what every protocol makes of a turn -----------------------------------------------------------
std::string text_of(const conversation_turn& t);
// The prompt of the request, where this is its first message.
std::string system_text(const conversation_turn& t, const model_request& r);
bool is_prompt(const conversation_turn& t, const model_request& r);
// Thoughts written down as text beside calls are not shown again to a model that is not to reason.
bool hides_text(const conversation_turn& t, const llm_config& c);
// Whether the thoughts of a turn are those of the model that is asked now. Others cannot be shown to it.
bool thought_by(const conversation_turn& t, const llm_config& c);
// As an address or as data:..;base64,..
std::string image_url(const image_content& image);

} // namespace troupe
