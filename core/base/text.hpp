// Small things about text that several layers need. All of it is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::text {

// Number of code points (bytes that are not continuation bytes).
std::size_t length(std::string_view s) noexcept;
// The first `count` code points.
std::string_view prefix(std::string_view s, std::size_t count) noexcept;
// True where the whole is well-formed UTF-8 (RFC 3629: no surrogates, nothing overlong).
bool is_utf8(std::string_view s) noexcept;
// The text itself, or where it is no UTF-8, what its bytes mean in Latin-1 (values of HTTP headers).
std::string utf8(std::string_view s);
// Without U+0000, which no stored text may hold.
std::string without_nul(std::string_view s);
// ASCII letters only; all that the API's case-insensitive filters need beside exact bytes elsewhere.
std::string lower(std::string_view s);
bool contains_ignoring_case(std::string_view haystack, std::string_view needle);

std::vector<std::string> split(std::string_view s, char separator);
// As Python's splitlines for \n, \r\n and \r: no empty last line.
std::vector<std::string> split_lines(std::string_view s);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string replace_all(std::string_view s, std::string_view from, std::string_view to);
std::string_view trim(std::string_view s) noexcept;
// As Python's str.expandtabs(8).
std::string expand_tabs(std::string_view s);

} // namespace troupe::text
