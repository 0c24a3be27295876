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
#else
inline void set_handler(const std::function<kind(std::string_view)>&) {}
constexpr kind at(std::string_view) { return kind::none; }
#endif

} // namespace troupe::faults
