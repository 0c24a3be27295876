// Named fault points. A test arms one ("store.commit", the third time, as if the disk were full); in releases, which
// are built without TROUPE_FAULTS, every point is nothing.
#pragma once

#include <functional>
#include <string_view>

namespace troupe::faults {

enum class kind { none, disk_full, io_error, crash };

#ifdef TROUPE_FAULTS
// Asked at every point, from whichever thread passes it; set before threads start, or under their rest.
void set_handler(std::function<kind(std::string_view point)> handler);
kind at(std::string_view point);
// "store.commit:3" and "store.put:20:disk_full": what happens when a point is passed for the Nth time (default: crash).
// False where the text makes no sense.
bool arm(std::string_view spec);
#else
inline void set_handler(const std::function<kind(std::string_view)>&) {}
constexpr kind at(std::string_view) { return kind::none; }
constexpr bool arm(std::string_view) { return false; }
#endif

} // namespace troupe::faults
