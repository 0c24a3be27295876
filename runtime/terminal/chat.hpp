// `troupe chat`: a conversation with an agent or a group in the terminal, through the API of a running server.
#pragma once

#include "runtime/terminal/connection.hpp"

#include <iosfwd>

namespace troupe::runtime {

struct chat_options {
  server_address server;
  std::string agent;   // id or name; empty: the newest one, or a new one
  std::string group;   // id or description, instead of an agent
  std::string model;   // handle for a new one; empty: the first that the server has
  std::string message; // one message instead of a conversation
};

// Talks until the input ends. Errors: one line that says what to do.
result<void> chat(const chat_options& options, std::istream& in, std::ostream& out);

} // namespace troupe::runtime
