#include "net/rest/parameters.hpp"

#include "core/base/text.hpp"

namespace troupe::net::rest {

namespace {

bool in_alphabet(char c, alphabet a) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-')
    return true;
  return a == alphabet::any || (a == alphabet::label ? c == '/' : c == ' ');
}

bool wrong_length(json::reader& r, const json::value& v, bool too_short, std::size_t bound) {
  auto n = std::to_string(bound);
  return r.fail(too_short ? "string_too_short" : "string_too_long",
                "String should have at " + std::string(too_short ? "least " : "most ") + n +
                    (bound == 1 ? " character" : " characters"),
                v, "{'" + std::string(too_short ? "min_length" : "max_length") + "': " + n + "}");
}

} // namespace

std::optional<std::string> filled(const std::optional<std::string>& value) {
  return value && !value->empty() ? value : std::nullopt;
}

bool read_bounded_text(json::reader& r, const json::value& v, alphabet allowed, std::size_t longest,
                       std::string& out) {
  if (!json::read(r, v, out)) return false;
  if (out.empty()) return wrong_length(r, v, true, 1);
  if (text::length(out) > longest) return wrong_length(r, v, false, longest);
  for (char c : out)
    if (!in_alphabet(c, allowed)) {
      std::string pattern = allowed == alphabet::label ? "^[a-zA-Z0-9_/-]+$" : "^[a-zA-Z0-9 _-]+$";
      return r.fail("string_pattern_mismatch", "String should match pattern '" + pattern + "'", v,
                    "{'pattern': '" + pattern + "'}");
    }
  return true;
}

} // namespace troupe::net::rest
