#include "core/json/value.hpp"

#include <cmath>
#include <limits>

namespace troupe::json {

const value* find(const object& o, std::string_view key) noexcept {
  return o.if_contains({key.data(), key.size()});
}

const value* find(const value& v, std::string_view key) noexcept {
  auto* o = v.if_object();
  return o ? find(*o, key) : nullptr;
}

std::string_view string_or(const object& o, std::string_view key, std::string_view fallback) noexcept {
  auto* member = find(o, key);
  return member && member->is_string() ? view(member->get_string()) : fallback;
}

std::string_view string_or(const value& v, std::string_view key, std::string_view fallback) noexcept {
  auto* o = v.if_object();
  return o ? string_or(*o, key, fallback) : fallback;
}

// A number beyond int64 counts nothing: the fallback.
std::int64_t int_or(const value& v, std::string_view key, std::int64_t fallback) noexcept {
  auto* member = find(v, key);
  if (!member) return fallback;
  if (member->is_int64()) return member->get_int64();
  if (auto* u = member->if_uint64())
    return *u <= std::numeric_limits<std::int64_t>::max() ? static_cast<std::int64_t>(*u) : fallback;
  auto* d = member->if_double();
  return d && std::abs(*d) < 9e18 ? static_cast<std::int64_t>(*d) : fallback;
}

} // namespace troupe::json
