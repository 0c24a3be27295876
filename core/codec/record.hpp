// Described structs <-> the bytes of a stored record (docs/format.md). Compact, and open to growth: every struct
// carries its length, so members may be added at the end (absent ones keep their defaults) and a reader skips what
// it does not know. The rules that keep old stores readable: members and enumerators are only ever appended, a
// variant's alternatives too, and nothing changes its type.
//
//   unsigned varint: 7 bits a byte, low first          bool: one byte
//   integers: zigzag varint                            double: 8 bytes, little endian
//   string, JSON value (as text): length, bytes        id, uuid: 16 bytes
//   time: zigzag varint, microseconds                  optional: one byte, then the value
//   vector, dictionary: varint count, items            enum: varint
//   variant: varint index, then the alternative        struct: varint length, members in order
#pragma once

#include "core/base/id.hpp"
#include "core/base/rare.hpp"
#include "core/base/time.hpp"
#include "core/json/describe.hpp"
#include "core/json/value.hpp"

#include <bit>
#include <concepts>
#include <cstring>

namespace troupe::codec {

template <class M> inline constexpr bool is_missing_or_value = false;
template <class T> inline constexpr bool is_missing_or_value<std::optional<T>> = true;
template <class T> inline constexpr bool is_missing_or_value<rare<T>> = true;
template <class M>
concept may_be_missing = is_missing_or_value<M>;

// -- writing --------------------------------------------------------------------------------------
void put_varint(std::string& out, std::uint64_t v);
inline void put_zigzag(std::string& out, std::int64_t v) {
  put_varint(out, (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63));
}

inline void put(std::string& out, bool v) { out.push_back(v ? '\1' : '\0'); }
template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) void put(std::string& out, T v) {
  put_zigzag(out, static_cast<std::int64_t>(v));
}
void put(std::string& out, double v);
void put(std::string& out, const std::string& v);
void put(std::string& out, const json::value& v);
inline void put(std::string& out, const json::object& v) { put(out, json::value(v)); }
inline void put(std::string& out, const uuid& v) { out += v.view(); }
inline void put(std::string& out, timestamp v) { put_zigzag(out, v.us); }
inline void put(std::string& out, naive_timestamp v) { put_zigzag(out, v.us); }
template <id_prefix P> void put(std::string& out, const id<P>& v) { out += v.key(); }
template <json::described_enum E> void put(std::string& out, E v) {
  put_varint(out, static_cast<std::uint64_t>(v));
}

template <may_be_missing M> void put(std::string& out, const M& v);
template <class T> void put(std::string& out, const std::vector<T>& v);
template <class T> void put(std::string& out, const json::dictionary<T>& v);
template <class... Ts> void put(std::string& out, const std::variant<Ts...>& v);
template <json::described_struct T> void put(std::string& out, const T& v);

template <may_be_missing M> void put(std::string& out, const M& v) {
  put(out, v.has_value());
  if (v) put(out, *v);
}
template <class T> void put(std::string& out, const std::vector<T>& v) {
  put_varint(out, v.size());
  for (auto& x : v) put(out, x);
}
template <class T> void put(std::string& out, const json::dictionary<T>& v) {
  put_varint(out, v.size());
  for (auto& [key, x] : v) {
    put(out, key);
    put(out, x);
  }
}
template <class... Ts> void put(std::string& out, const std::variant<Ts...>& v) {
  put_varint(out, v.index());
  std::visit([&](const auto& x) { put(out, x); }, v);
}
template <json::described_struct T> void put(std::string& out, const T& v) {
  auto begin = out.size();
  out.push_back('\0'); // room for a length below 128; longer ones move the body
  json::for_each_member<T>([&](auto d) { put(out, v.*d.pointer); });
  auto length = out.size() - begin - 1;
  if (length < 128) {
    out[begin] = static_cast<char>(length);
    return;
  }
  std::string head;
  put_varint(head, length);
  out.replace(begin, 1, head);
}

template <class T> std::string encode(const T& v) {
  std::string out;
  put(out, v);
  return out;
}

// -- reading --------------------------------------------------------------------------------------
// A place in a record. Every read function gives false, and leaves the cursor broken, where the bytes run out or
// make no sense; nothing is ever read beyond the end.
class cursor {
public:
  explicit cursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool empty() const noexcept { return at_ == end_; }
  bool varint(std::uint64_t& v) noexcept;
  bool bytes(std::size_t n, std::string_view& v) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < n) return false;
    v = {at_, n};
    at_ += n;
    return true;
  }

private:
  const char* at_;
  const char* end_;
};

inline bool get_zigzag(cursor& c, std::int64_t& v) {
  std::uint64_t u = 0;
  if (!c.varint(u)) return false;
  v = static_cast<std::int64_t>(u >> 1) ^ -static_cast<std::int64_t>(u & 1);
  return true;
}

bool get(cursor& c, bool& v);
template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) bool get(cursor& c, T& v) {
  std::int64_t wide = 0;
  if (!get_zigzag(c, wide)) return false;
  v = static_cast<T>(wide);
  return true;
}
bool get(cursor& c, double& v);
bool get(cursor& c, std::string& v);
bool get(cursor& c, json::value& v);
bool get(cursor& c, json::object& v);
bool get(cursor& c, uuid& v);
inline bool get(cursor& c, timestamp& v) { return get_zigzag(c, v.us); }
inline bool get(cursor& c, naive_timestamp& v) { return get_zigzag(c, v.us); }
template <id_prefix P> bool get(cursor& c, id<P>& v) { return get(c, v.value); }
template <json::described_enum E> bool get(cursor& c, E& v) {
  std::uint64_t u = 0;
  if (!c.varint(u)) return false;
  v = static_cast<E>(u);
  return true;
}

template <may_be_missing M> bool get(cursor& c, M& v);
template <class T> bool get(cursor& c, std::vector<T>& v);
template <class T> bool get(cursor& c, json::dictionary<T>& v);
template <class... Ts> bool get(cursor& c, std::variant<Ts...>& v);
template <json::described_struct T> bool get(cursor& c, T& v);

template <may_be_missing M> bool get(cursor& c, M& v) {
  bool present = false;
  v.reset();
  return get(c, present) && (!present || get(c, v.emplace()));
}
template <class T> bool get(cursor& c, std::vector<T>& v) {
  std::uint64_t n = 0;
  if (!c.varint(n)) return false;
  v.clear();
  for (; n > 0; --n) // no reserve: a damaged count must not allocate
    if (!get(c, v.emplace_back())) return false;
  return true;
}
template <class T> bool get(cursor& c, json::dictionary<T>& v) {
  std::uint64_t n = 0;
  if (!c.varint(n)) return false;
  v.clear();
  for (; n > 0; --n) {
    v.emplace_back();
    if (!get(c, v.back().first) || !get(c, v.back().second)) return false;
  }
  return true;
}
template <class... Ts> bool get(cursor& c, std::variant<Ts...>& v) {
  std::uint64_t index = 0;
  if (!c.varint(index) || index >= sizeof...(Ts)) return false;
  return boost::mp11::mp_with_index<sizeof...(Ts)>(static_cast<std::size_t>(index),
                                                   [&](auto i) { return get(c, v.template emplace<i>()); });
}
template <json::described_struct T> bool get(cursor& c, T& v) {
  std::uint64_t length = 0;
  std::string_view body;
  if (!c.varint(length) || !c.bytes(length, body)) return false;
  cursor inner(body);
  bool good = true;
  json::for_each_member<T>([&](auto d) {
    if (good && !inner.empty()) good = get(inner, v.*d.pointer);
  });
  return good;
}

// The record, or nothing where the bytes are damaged.
template <class T> std::optional<T> decode(std::string_view bytes) {
  cursor c(bytes);
  T v{};
  if (!get(c, v)) return std::nullopt;
  return v;
}

} // namespace troupe::codec
