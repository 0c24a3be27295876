#include "core/base/embedded.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace troupe {

std::string_view embedded(std::string_view name) {
  for (const auto& f : embedded_files())
    if (f.name == name) return {f.begin, static_cast<std::size_t>(f.end - f.begin)};
  std::fprintf(stderr, "troupe: no embedded file %s\n", std::string(name).c_str());
  std::abort();
}

} // namespace troupe
