// A bare HTTP server on one thread, on a free port of 127.0.0.1: what the mock model and the echo floor share.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

struct answer {
  int status = 200;
  std::string body;
  // A stream instead of the body: each piece is a chunk and a write of its own.
  std::vector<std::string> pieces;
  std::chrono::microseconds pause{0}; // before each piece but the first
  bool hold = false;                  // stop before the last piece until the client goes
};

using handler = answer (*)(std::string_view target, std::string_view body);

// Prints "listens on PORT" and serves until it is killed.
int serve(handler handle);

} // namespace troupe::bench
