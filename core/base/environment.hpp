// What a pure part may not have of its own: the time and randomness. Handed in, so that a whole server runs
// deterministically under test.
#pragma once

#include "core/base/id.hpp"
#include "core/base/time.hpp"

namespace troupe {

class environment {
public:
  virtual ~environment() = default;
  virtual timestamp now() = 0;
  virtual uuid random_uuid() = 0; // version 4
  // For a new thing. Version 4 by its form, which clients check, but those of a moment may lie side by side: what is
  // made together is then stored together, and a commit writes fewer pages of the store.
  virtual uuid fresh_uuid() { return random_uuid(); }
  // Monotonic, for durations; nanoseconds.
  virtual std::int64_t monotonic_ns() = 0;

  template <class Id> Id make_id() { return Id{fresh_uuid()}; }
};

// The machine's clocks and a generator per thread, seeded from the kernel. Safe to use from any thread.
class system_environment final : public environment {
public:
  timestamp now() override;
  uuid random_uuid() override;
  // Begins with the time, 48 bits of ms since 1970, as version 7 does (RFC 9562 §5.7).
  uuid fresh_uuid() override;
  std::int64_t monotonic_ns() override;
};

} // namespace troupe
