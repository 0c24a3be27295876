#include "core/base/environment.hpp"

#include <chrono>
#include <random>

namespace troupe {

timestamp system_environment::now() {
  using namespace std::chrono;
  return {duration_cast<microseconds>(system_clock::now().time_since_epoch()).count()};
}

std::int64_t system_environment::monotonic_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

namespace {
// Ids are names, not secrets: a fast generator, with 128 bits of the kernel's randomness as seed.
std::mt19937_64 seeded() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
  return std::mt19937_64{seed};
}
} // namespace

uuid system_environment::random_uuid() {
  thread_local std::mt19937_64 generator = seeded();
  std::uint64_t words[2] = {generator(), generator()};
  uuid u;
  std::memcpy(u.bytes.data(), words, 16);
  u.bytes[6] = static_cast<std::uint8_t>((u.bytes[6] & 0x0f) | 0x40);
  u.bytes[8] = static_cast<std::uint8_t>((u.bytes[8] & 0x3f) | 0x80);
  return u;
}

uuid system_environment::fresh_uuid() {
  auto u = random_uuid();
  auto ms = static_cast<std::uint64_t>(now().us / 1000);
  for (std::size_t i = 0; i < 6; ++i) u.bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  return u;
}

} // namespace troupe
