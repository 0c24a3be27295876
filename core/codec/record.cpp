#include "core/codec/record.hpp"

namespace troupe::codec {

void put_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
}

void put(std::string& out, double v) {
  auto bits = std::bit_cast<std::uint64_t>(v);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}

void put(std::string& out, const std::string& v) {
  put_varint(out, v.size());
  out += v;
}

void put(std::string& out, const json::value& v) { put(out, json::print(v)); }

bool cursor::varint(std::uint64_t& v) noexcept {
  v = 0;
  for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
    auto byte = static_cast<unsigned char>(*at_++);
    v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool get(cursor& c, bool& v) {
  std::string_view b;
  if (!c.bytes(1, b)) return false;
  v = b[0] != 0;
  return true;
}

bool get(cursor& c, double& v) {
  std::string_view b;
  if (!c.bytes(8, b)) return false;
  std::uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) bits = bits << 8 | static_cast<unsigned char>(b[static_cast<std::size_t>(i)]);
  v = std::bit_cast<double>(bits);
  return true;
}

bool get(cursor& c, std::string& v) {
  std::uint64_t n = 0;
  std::string_view b;
  if (!c.varint(n) || !c.bytes(n, b)) return false;
  v.assign(b);
  return true;
}

bool get(cursor& c, json::value& v) {
  std::uint64_t n = 0;
  std::string_view b;
  if (!c.varint(n) || !c.bytes(n, b)) return false;
  auto parsed = json::try_parse(b);
  if (!parsed) return false;
  v = std::move(*parsed);
  return true;
}

bool get(cursor& c, json::object& v) {
  json::value any;
  if (!get(c, any) || !any.is_object()) return false;
  v = std::move(any.get_object());
  return true;
}

bool get(cursor& c, uuid& v) {
  std::string_view b;
  if (!c.bytes(16, b)) return false;
  v = uuid::from_bytes(b);
  return true;
}

} // namespace troupe::codec
