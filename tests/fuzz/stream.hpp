// A provider's stream: the same events whatever the pieces it comes in, and a decoder that survives all of them.
#pragma once

#include "core/base/text.hpp"
#include "core/protocol/openai_chat.hpp"
#include "core/protocol/sse.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

namespace troupe::fuzz {

using events = std::vector<std::pair<std::string, std::string>>;

inline events split_events(std::string_view bytes, std::size_t piece) {
  events out;
  auto keep = [&](std::string_view name, std::string_view data) { out.emplace_back(name, data); };
  sse_splitter splitter(1 << 20);
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (!splitter.feed(bytes.substr(at, piece), keep)) break;
  splitter.finish(keep);
  return out;
}

inline void decode(const events& all) {
  openai_chat::stream_decoder decoder(all.size() % 2 == 1);
  std::vector<project::delta> pieces;
  for (auto& [name, data] : all)
    if (!decoder.feed(data, pieces)) return;
  if (auto reply = decoder.finish(); !reply)
    must(!reply.error().message.empty(), "an error without a message");
}

// The first byte says how long the pieces are.
inline void stream(std::string_view bytes) {
  if (bytes.empty()) return;
  auto piece = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) % 61 + 1;
  bytes.remove_prefix(1);
  auto whole = split_events(bytes, std::max<std::size_t>(bytes.size(), 1));
  must(split_events(bytes, piece) == whole, "events depend on the pieces they came in");
  decode(whole);
  if (auto reply = openai_chat::parse_reply(bytes); !reply)
    must(!reply.error().message.empty(), "an error without a message");
  must(!openai_chat::error_for(400, bytes).message.empty(), "an error without a message");
}

} // namespace troupe::fuzz
