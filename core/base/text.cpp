#include "core/base/text.hpp"

#include <algorithm>

namespace troupe::text {

namespace {
constexpr bool continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
constexpr char lower_char(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
} // namespace

std::size_t length(std::string_view s) noexcept {
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return !continuation(c); }));
}

std::string_view prefix(std::string_view s, std::size_t count) noexcept {
  std::size_t seen = 0, at = 0;
  for (; at < s.size(); ++at)
    if (!continuation(s[at]) && seen++ == count) break;
  return s.substr(0, at);
}

bool is_utf8(std::string_view s) noexcept {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  for (std::size_t i = 0; i < s.size();) {
    unsigned char c = byte(i);
    std::size_t more = c < 0x80                ? 0
                       : c >= 0xc2 && c < 0xe0 ? 1
                       : c >= 0xe0 && c < 0xf0 ? 2
                       : c >= 0xf0 && c < 0xf5 ? 3
                                               : 9;
    if (more == 9 || i + more >= s.size()) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if (!continuation(s[i + k])) return false;
    if (more == 2 && ((c == 0xe0 && byte(i + 1) < 0xa0) || (c == 0xed && byte(i + 1) >= 0xa0))) return false;
    if (more == 3 && ((c == 0xf0 && byte(i + 1) < 0x90) || (c == 0xf4 && byte(i + 1) >= 0x90))) return false;
    i += more + 1;
  }
  return true;
}

std::string utf8(std::string_view s) {
  if (is_utf8(s)) return std::string(s);
  std::string out;
  for (char ch : s) {
    auto c = static_cast<unsigned char>(ch);
    if (c >= 0x80) out.push_back(static_cast<char>(0xc0 | c >> 6));
    out.push_back(static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3f)));
  }
  return out;
}

std::string without_nul(std::string_view s) {
  std::string out(s);
  std::erase(out, '\0');
  return out;
}

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), lower_char);
  return out;
}

bool contains_ignoring_case(std::string_view haystack, std::string_view needle) {
  return std::search(haystack.begin(), haystack.end(), needle.begin(), needle.end(),
                     [](char a, char b) { return lower_char(a) == lower_char(b); }) != haystack.end() ||
         needle.empty();
}

std::vector<std::string> split(std::string_view s, char separator) {
  std::vector<std::string> out;
  for (;;) {
    auto at = s.find(separator);
    out.emplace_back(s.substr(0, at));
    if (at == std::string_view::npos) return out;
    s.remove_prefix(at + 1);
  }
}

std::vector<std::string> split_lines(std::string_view s) {
  std::vector<std::string> out;
  while (!s.empty()) {
    auto at = s.find_first_of("\r\n");
    out.emplace_back(s.substr(0, at));
    if (at == std::string_view::npos) break;
    s.remove_prefix(at + (s.substr(at).starts_with("\r\n") ? 2 : 1));
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

std::string replace_all(std::string_view s, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) return std::string(s);
  for (;;) {
    auto at = s.find(from);
    out += s.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    s.remove_prefix(at + from.size());
  }
}

std::string_view trim(std::string_view s) noexcept {
  constexpr std::string_view space = " \t\r\n\f\v";
  auto first = s.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(space) - first + 1);
}

std::string expand_tabs(std::string_view s) {
  std::string out;
  std::size_t column = 0;
  for (char c : s) {
    if (c == '\t') {
      auto pad = 8 - column % 8;
      out.append(pad, ' ');
      column += pad;
      continue;
    }
    out.push_back(c);
    if (c == '\n' || c == '\r')
      column = 0;
    else if (!continuation(c))
      ++column;
  }
  return out;
}

} // namespace troupe::text
