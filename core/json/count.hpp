// How large a document would be, before it is made.
#pragma once

#include <cstddef>
#include <string_view>

namespace troupe::json {

// A tiny value takes twenty times the memory of its text, so bytes alone are no bound.
inline constexpr std::size_t most_values = 1'000'000;

// How many values a text holds, members of objects and elements of arrays at any depth and itself; keys are none. Of a
// text that is no JSON some number that is not smaller than what a parser has made of it when it sees that.
std::size_t count_values(std::string_view text) noexcept;

} // namespace troupe::json
