#include "core/protocol/strict_tools.hpp"

#include <algorithm>

namespace troupe {

namespace {

json::array names_of(const json::object& properties) {
  json::array out;
  for (auto& [name, schema] : properties) out.emplace_back(name);
  return out;
}

void close_objects(json::value& schema);

void close_all(json::value* list) {
  if (list && list->is_array())
    for (auto& s : list->get_array()) close_objects(s);
}

// Objects within, too, take what they name and nothing else.
void close_objects(json::value& schema) {
  if (!schema.is_object()) return;
  auto& o = schema.get_object();
  if (auto* any = o.if_contains("anyOf")) return close_all(any);
  auto* type = o.if_contains("type");
  if (!type || !type->is_string()) return;
  if (type->get_string() == "array")
    if (auto* items = o.if_contains("items")) close_objects(*items);
  if (type->get_string() != "object") return;
  auto* properties = o.if_contains("properties");
  if (!properties || !properties->is_object()) return;
  for (auto& [name, s] : properties->get_object()) close_objects(s);
  auto names = names_of(properties->get_object());
  o["additionalProperties"] = false;
  o["required"] = std::move(names);
}

void add_null_to(json::array& options) {
  auto is_null = [](auto& s) { return json::string_or(s, "type") == "null"; };
  if (std::none_of(options.begin(), options.end(), is_null))
    options.push_back(json::object{{"type", "null"}});
}

void make_nullable(json::value& schema) {
  if (!schema.is_object()) return;
  auto& o = schema.get_object();
  if (auto* type = o.if_contains("type")) {
    if (!type->is_array()) *type = json::array{*type};
    auto& types = type->get_array();
    if (std::find(types.begin(), types.end(), json::value("null")) == types.end()) types.emplace_back("null");
  } else if (auto* any = o.if_contains("anyOf"); any && any->is_array()) {
    add_null_to(any->get_array());
  } else if (auto* ref = o.if_contains("$ref")) {
    json::array either{json::object{{"$ref", *ref}}, json::object{{"type", "null"}}};
    o.erase("$ref");
    o["anyOf"] = std::move(either);
  } else {
    o["type"] = "null";
  }
}

bool is_required(const json::value* list, std::string_view name) {
  if (!list || !list->is_array()) return false;
  auto& names = list->get_array();
  return std::any_of(names.begin(), names.end(),
                     [&](auto& n) { return n.is_string() && json::view(n.get_string()) == name; });
}

// The parameters themselves: all are required, what need not be given may be null.
void close(json::object& parameters) {
  parameters["additionalProperties"] = false;
  auto* given = parameters.if_contains("properties");
  auto properties = given && given->is_object() ? given->get_object() : json::object{};
  auto* required = parameters.if_contains("required");
  for (auto& [name, schema] : properties) {
    close_objects(schema);
    if (!is_required(required, {name.data(), name.size()})) make_nullable(schema);
  }
  parameters["required"] = names_of(properties);
  if (given) parameters["properties"] = std::move(properties);
}

} // namespace

offered_tool strictly(offered_tool t) {
  t.strict = true;
  if (json::string_or(*t.parameters, "type") == "object") t.parameters.change(close);
  return t;
}

} // namespace troupe
