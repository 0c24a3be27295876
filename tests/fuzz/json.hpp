// JSON text in and out: what was read is printed as text that reads the same; what was not, has an error.
#pragma once

#include "core/base/text.hpp"
#include "core/json/value.hpp"
#include "tests/fuzz/target.hpp"

#include <cmath>

namespace troupe::fuzz {

// Equal, but for the last bit of a float and for numbers that JSON has no word for.
inline bool same(const json::value& a, const json::value& b) {
  if (a.is_double()) {
    double x = a.get_double();
    if (!std::isfinite(x)) return b.is_null();
    double y = b.is_double() ? b.get_double() : std::nan("");
    return x == y || std::abs(x - y) <= std::abs(x) * 1e-12;
  }
  if (a.kind() != b.kind()) return false;
  if (auto* x = a.if_array()) {
    auto& y = b.get_array();
    if (x->size() != y.size()) return false;
    for (std::size_t i = 0; i < x->size(); ++i)
      if (!same((*x)[i], y[i])) return false;
    return true;
  }
  if (auto* x = a.if_object()) {
    auto& y = b.get_object();
    if (x->size() != y.size()) return false;
    for (auto& [key, member] : *x) {
      auto* other = y.if_contains(key);
      if (!other || !same(member, *other)) return false;
    }
    return true;
  }
  return a == b;
}

inline void json_text(std::string_view bytes) {
  auto read = json::parse(bytes);
  if (!read) {
    must(!json::try_parse(bytes), "an error for a text that reads");
    must(!read.error().message.empty(), "an error without a message");
    must(read.error().position <= bytes.size(), "an error behind the end");
    return;
  }
  auto printed = json::print(*read);
  must(text::is_utf8(printed), "printed text is UTF-8");
  auto again = json::parse(printed);
  must(again && same(*read, *again), "what is printed reads the same");
  must(json::print(*again).size() <= printed.size() + 64 * printed.size(), "printing does not grow");
  auto ascii = json::print_python(*read);
  for (char c : ascii) must(static_cast<unsigned char>(c) < 0x80, "Python's layout is ASCII");
  must(json::parse(ascii).has_value(), "Python's layout reads");
  must(json::parse(json::print_packed(*read)).has_value(), "packed JSON reads");
  must(text::is_utf8(json::python_repr(*read)), "repr() is UTF-8");
}

} // namespace troupe::fuzz
