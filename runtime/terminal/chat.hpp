// `troupe chat`: a conversation with an agent in the terminal, through the API of a running server.
#pragma once

#include "core/base/error.hpp"

#include <iosfwd>
#include <optional>
#include <string>

namespace troupe::runtime {

struct chat_options {
  std::string url = "http://127.0.0.1:8283";
  std::string password;
  std::string agent;   // id or name; empty: the newest one, or a new one
  std::string model;   // handle for a new one; empty: the first that the server has
  std::string message; // one message instead of a conversation
};

// Talks until the input ends. Errors: one line that says what to do.
result<void> chat(const chat_options& options, std::istream& in, std::ostream& out);

} // namespace troupe::runtime
