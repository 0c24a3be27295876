// Who is talked to in the terminal: an agent, or a group.
#pragma once

#include "runtime/terminal/chat.hpp"

namespace troupe::runtime {

class partner {
public:
  virtual ~partner() = default;
  virtual std::string title() const = 0;
  // Says it, and prints what comes back.
  virtual result<void> send(const std::string& text, std::ostream& out) = 0;
};

// The agent that the options name; where they name none, the newest, or a new one.
result<std::unique_ptr<partner>> find_agent_partner(connection& server, const chat_options& o);
// The group that the options name.
result<std::unique_ptr<partner>> find_group_partner(connection& server, const chat_options& o);

} // namespace troupe::runtime
