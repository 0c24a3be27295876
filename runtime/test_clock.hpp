// A clock that clients may set forward, so that tests of pauses, retries and deadlines need not sleep
// (`troupe serve --test-clock`, docs/testing.md). It begins as the machine's, runs as that does, and is ahead of it by
// what it was told.
#pragma once

#include "core/base/environment.hpp"
#include "net/http/message.hpp"

#include <atomic>

namespace troupe::runtime {

class test_clock final : public environment {
public:
  timestamp now() override { return {real_.now().us + ahead_ms_ * 1'000}; }
  uuid random_uuid() override { return real_.random_uuid(); }
  uuid fresh_uuid() override { return real_.fresh_uuid(); }
  std::int64_t monotonic_ns() override { return real_.monotonic_ns() + ahead_ms_ * 1'000'000; }
  void advance(std::int64_t ms) { ahead_ms_ += ms; }

private:
  system_environment real_;
  std::atomic<std::int64_t> ahead_ms_ = 0;
};

// Adds to an API: GET /v1/_test/clock, and POST with {"advance_ms": n}. Both answer {"now": ..}.
net::http::handler with_test_clock(net::http::handler api, std::shared_ptr<test_clock> clock);

} // namespace troupe::runtime
