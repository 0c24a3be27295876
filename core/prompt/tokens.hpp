// How many tokens a text will count for. An estimate: UTF-8 bytes / 4, rounded up, which is what the original uses
// for every provider without a counting service (reference: resources §2.15).
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::prompt {

constexpr std::int64_t estimate_tokens(std::string_view text) noexcept {
  return static_cast<std::int64_t>((text.size() + 3) / 4);
}

} // namespace troupe::prompt
