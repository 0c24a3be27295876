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
  // Monotonic, for durations; nanoseconds.
  virtual std::int64_t monotonic_ns() = 0;

  template <class Id> Id make_id() { return Id{random_uuid()}; }
};

// The machine's clocks and a generator per thread, seeded from the kernel. Safe to use from any thread.
class system_environment final : public environment {
public:
  timestamp now() override;
  uuid random_uuid() override;
  std::int64_t monotonic_ns() override;
};

} // namespace troupe
