#include "storage/faults.hpp"

#ifdef TROUPE_FAULTS
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

} // namespace troupe::faults
#endif
