#include "core/turn/arguments.hpp"

#include <boost/json/stream_parser.hpp>

namespace troupe::turn {

namespace {

// The object at the start of a text, whatever follows it.
std::optional<json::value> first_object(const std::string& text) {
  for (auto at = text.find("}{"); at != std::string::npos; at = text.find("}{", at + 1))
    if (auto v = json::try_parse(std::string_view(text).substr(0, at + 1))) return v;
  return std::nullopt;
}

} // namespace

json::object parse_raw_arguments(const std::string& text) {
  auto v = json::try_parse(text);
  if (!v) v = first_object(text);
  if (v && v->is_string()) v = json::try_parse(json::view(v->get_string()));
  if (!v || !v->is_object()) return {};
  return std::move(v->get_object());
}

json::object parse_arguments(const std::string& text) {
  auto out = parse_raw_arguments(text);
  out.erase("request_heartbeat");
  out.erase("thinking");
  return out;
}

} // namespace troupe::turn
