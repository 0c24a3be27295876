#include "net/http/message.hpp"

#include "core/base/text.hpp"

#include <algorithm>

namespace troupe::net::http {

std::string_view request::header(std::string_view name) const noexcept {
  for (auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

bool request::has_header(std::string_view name) const noexcept {
  return std::any_of(headers.begin(), headers.end(), [&](auto& h) { return h.first == name; });
}

std::optional<std::string_view> request::parameter(std::string_view name) const noexcept {
  for (auto it = query.rbegin(); it != query.rend(); ++it)
    if (it->first == name) return it->second;
  return std::nullopt;
}

namespace {

constexpr int hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// %XX and, in a query, + for a space. Nothing where an escape is broken.
std::optional<std::string> decoded(std::string_view s, bool plus) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%') {
      int high = i + 2 < s.size() ? hex(s[i + 1]) : -1, low = i + 2 < s.size() ? hex(s[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high << 4 | low));
      i += 2;
    } else {
      out.push_back(plus && s[i] == '+' ? ' ' : s[i]);
    }
  }
  if (!text::is_utf8(out)) return std::nullopt;
  return out;
}

} // namespace

bool parse_target(request& r) {
  std::string_view target = r.target;
  auto mark = target.find('?');
  auto path = decoded(target.substr(0, mark), false);
  if (!path || path->empty() || path->front() != '/') return false;
  r.path = std::move(*path);
  r.query.clear();
  if (mark == std::string_view::npos) return true;
  auto rest = target.substr(mark + 1);
  if (auto fragment = rest.find('#'); fragment != std::string_view::npos) rest = rest.substr(0, fragment);
  for (auto& pair : text::split(rest, '&')) {
    if (pair.empty()) continue;
    auto equals = pair.find('=');
    auto name = decoded(std::string_view(pair).substr(0, equals), true);
    auto value = equals == std::string::npos ? std::optional<std::string>("")
                                             : decoded(std::string_view(pair).substr(equals + 1), true);
    if (!name || !value) return false;
    r.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

} // namespace troupe::net::http
