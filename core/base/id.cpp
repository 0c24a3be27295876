#include "core/base/id.hpp"

namespace troupe {

namespace {
constexpr char hex[] = "0123456789abcdef";

constexpr int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

constexpr bool dash_at(std::size_t i) noexcept { return i == 8 || i == 13 || i == 18 || i == 23; }
} // namespace

std::string uuid::str() const {
  std::string out(36, '-');
  std::size_t at = 0;
  for (auto b : bytes) {
    if (dash_at(at)) ++at;
    out[at++] = hex[b >> 4];
    out[at++] = hex[b & 15];
  }
  return out;
}

std::optional<uuid> uuid::parse(std::string_view text) noexcept {
  if (text.size() != 36) return std::nullopt;
  uuid u;
  std::size_t at = 0;
  for (auto& b : u.bytes) {
    if (dash_at(at) && text[at++] != '-') return std::nullopt;
    int hi = digit(text[at]), lo = digit(text[at + 1]);
    if (hi < 0 || lo < 0) return std::nullopt;
    b = static_cast<std::uint8_t>(hi << 4 | lo);
    at += 2;
  }
  if ((u.bytes[6] >> 4) != 4 || (u.bytes[8] >> 6) != 2) return std::nullopt;
  return u;
}

} // namespace troupe
