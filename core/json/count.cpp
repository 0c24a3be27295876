#include "core/json/count.hpp"

namespace troupe::json {

std::size_t count_values(std::string_view text) noexcept {
  std::size_t n = 1; // a comma begins a value, and so does a bracket that is not closed at once
  bool in_string = false, opened = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (opened && (c == ']' || c == '}')) --n;
    opened = c == '[' || c == '{';
    n += opened || c == ',';
    in_string = c == '"';
  }
  return n;
}

} // namespace troupe::json
