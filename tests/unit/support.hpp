// What the suites of this folder share: a world without chance, and short ways to make things.
#pragma once

#include "core/base/environment.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/schema/agent.hpp"

namespace troupe::test {

// The n-th id: the number stands before the last byte, so that the parts of a message (otid) stay apart.
inline uuid numbered(std::uint64_t n) {
  uuid u;
  u.bytes[6] = 0x40;
  u.bytes[8] = 0x80;
  for (std::size_t i = 14; n > 0; --i, n >>= 8) u.bytes[i] = static_cast<std::uint8_t>(n);
  return u;
}
template <class Id> Id nth(std::uint64_t n) { return Id{numbered(n)}; }
template <class Id> Id id_of(std::string_view text) { return Id::parse(text).value(); }

inline timestamp at(std::string_view text) { return parse_iso(text).value(); }

class fixed_environment final : public environment {
public:
  timestamp now() override { return time; }
  uuid random_uuid() override { return numbered(++ids); }
  std::int64_t monotonic_ns() override { return clock += 1000; }

  timestamp time = at("2026-11-21T06:24:29Z");
  std::uint64_t ids = 0x1000;
  std::int64_t clock = 0;
};

inline json::value parsed(std::string_view text) { return json::try_parse(text).value(); }
inline json::object object(std::string_view text) { return parsed(text).get_object(); }

// A described entity from its JSON text. A text that does not fit is a mistake of the test.
template <class T> T made(std::string_view text) {
  auto out = json::read_as<T>(parsed(text));
  if (!out) throw std::runtime_error("bad test data: " + out.error().message);
  return std::move(*out);
}

// What reading gives: "ok", or the text of the errors.
template <class T> std::string reading(std::string_view text, std::string_view root = "body") {
  auto out = json::read_as<T>(parsed(text), root);
  return out ? "ok" : out.error().message;
}

inline message make_message(message_role role, std::string_view text = {}) {
  message m;
  m.id = nth<message_id>(1);
  m.agent = nth<agent_id>(1);
  m.role = role;
  m.created_at = m.updated_at = at("2026-11-21T06:24:29.5Z");
  if (!text.empty()) m.content.emplace_back(text_content{std::string(text), std::nullopt});
  return m;
}

inline block make_block(std::string label, std::string value) {
  static std::uint64_t n = 0;
  block b;
  b.id = nth<block_id>(++n);
  b.label = std::move(label);
  b.value = std::move(value);
  return b;
}

// A tool of two text parameters, x and y.
inline tool make_tool(std::string name, std::uint64_t n) {
  tool t;
  t.id = nth<tool_id>(n);
  t.name = std::move(name);
  t.json_schema = object(R"({"name":"","description":"about","parameters":{"type":"object",
    "properties":{"x":{"type":"string"},"y":{"type":"integer"}},"required":["x"]}})");
  return t;
}

} // namespace troupe::test
