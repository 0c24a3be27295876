// What was said to an agent and by it, as lines for its companions (reference: groups §2.4.3). Pure.
#pragma once

#include "core/schema/message.hpp"

#include <memory>
#include <vector>

namespace troupe::sleeptime {

using stored_message = std::shared_ptr<const message>;

// The lines of one message; empty where it says nothing: heartbeats, summaries, the agent's own system message.
// `text_is_speech`: what the model writes as plain text is said to the user; otherwise that is its thoughts.
std::string lines_of(const message& m, bool text_is_speech);

// The beginning of a history that fits into a budget of tokens: the text, and how many messages it covers. At least one
// is covered; where not all are, the rest begins with what somebody says to the agent, if that is possible.
struct excerpt {
  std::string text;
  std::size_t covers = 0;
};
excerpt excerpt_of(const std::vector<stored_message>& messages, bool text_is_speech, std::size_t tokens);

// The lines with a word to the companion before them, about whose they are.
std::string letter(const std::string& lines);

} // namespace troupe::sleeptime
