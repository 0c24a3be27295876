#include "storage/faults.hpp"

#ifdef TROUPE_FAULTS
#include "core/base/text.hpp"

#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace troupe::faults {

namespace {
std::shared_mutex mutex;
std::function<kind(std::string_view)> current;
} // namespace

void set_handler(std::function<kind(std::string_view point)> handler) {
  std::unique_lock lock(mutex);
  current = std::move(handler);
}

kind at(std::string_view point) {
  std::shared_lock lock(mutex);
  return current ? current(point) : kind::none;
}

bool arm(std::string_view spec) {
  auto parts = text::split(spec, ':');
  int count = 0;
  if (parts.size() >= 2) std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), count);
  auto what = parts.size() < 3 || parts[2] == "crash" ? kind::crash
              : parts[2] == "disk_full"               ? kind::disk_full
              : parts[2] == "io_error"                ? kind::io_error
                                                      : kind::none;
  if (count < 1 || what == kind::none) return false;
  auto left = std::make_shared<std::atomic<int>>(count);
  set_handler([point = parts[0], left, what](std::string_view passed) {
    return passed == point && --*left == 0 ? what : kind::none;
  });
  return true;
}

} // namespace troupe::faults
#endif
