// Typed identifiers: `<prefix>-<uuid4>` outside, 16 bytes inside (reference: resources §1.2).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

struct uuid {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const uuid&) const = default;

  // 36 characters, lower case.
  std::string str() const;
  // Exactly 36 characters, lower-case hexadecimal, version 4, variant 8..b; nothing otherwise.
  static std::optional<uuid> parse(std::string_view text) noexcept;
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static uuid from_bytes(std::string_view raw) noexcept {
    uuid u;
    std::memcpy(u.bytes.data(), raw.data(), std::min<std::size_t>(raw.size(), 16));
    return u;
  }
};

template <std::size_t N> struct id_prefix {
  char text[N]{};
  constexpr id_prefix(const char (&s)[N]) { std::copy_n(s, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

template <id_prefix Prefix> struct id {
  static constexpr std::string_view prefix = Prefix.view();
  static constexpr std::size_t text_size = prefix.size() + 37;

  uuid value;

  id() = default;
  explicit id(uuid u) noexcept : value(u) {}
  auto operator<=>(const id&) const = default;

  std::string str() const {
    std::string out;
    out.reserve(text_size);
    out.append(prefix).push_back('-');
    return out += value.str();
  }
  std::string_view key() const noexcept { return value.view(); }
  static id from_key(std::string_view raw) noexcept { return id{uuid::from_bytes(raw)}; }

  static std::optional<id> parse(std::string_view text) noexcept {
    if (text.size() != text_size || !text.starts_with(prefix) || text[prefix.size()] != '-')
      return std::nullopt;
    auto u = uuid::parse(text.substr(prefix.size() + 1));
    if (!u) return std::nullopt;
    return id{*u};
  }
};

using agent_id = id<"agent">;
using block_id = id<"block">;
using conversation_id = id<"conv">;
using file_id = id<"file">;
using group_id = id<"group">;
using identity_id = id<"identity">;
using message_id = id<"message">;
using org_id = id<"org">;
using run_id = id<"run">;
using secret_id = id<"agent-env">;
using source_id = id<"source">;
using step_id = id<"step">;
using tool_id = id<"tool">;
using trace_id = id<"provider_trace">;
using user_id = id<"user">;

} // namespace troupe

template <> struct std::hash<troupe::uuid> {
  std::size_t operator()(const troupe::uuid& u) const noexcept {
    std::size_t h; // random bytes already: any eight of them are a hash
    std::memcpy(&h, u.bytes.data() + 8, sizeof h);
    return h;
  }
};
template <troupe::id_prefix P> struct std::hash<troupe::id<P>> {
  std::size_t operator()(const troupe::id<P>& i) const noexcept { return std::hash<troupe::uuid>{}(i.value); }
};
