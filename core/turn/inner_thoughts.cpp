#include "core/turn/inner_thoughts.hpp"

#include "core/base/text.hpp"
#include "core/turn/arguments.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

constexpr const char* heartbeat_description = "Whether to hand control back to you right after this call. "
                                              "Say true to call another tool or to send a further "
                                              "message; with false the chain of calls ends here.";
constexpr const char* thoughts_description =
    "Your private thoughts before the call: what you intend and why. Nobody else sees them.";

json::object property(const char* type, const char* description) {
  json::object p;
  p["type"] = type;
  p["description"] = description;
  return p;
}

json::object& object_member(json::object& o, const char* name) {
  auto& v = o[name];
  if (!v.is_object()) v.emplace_object();
  return v.get_object();
}

void require(json::object& parameters, const char* name, bool first) {
  auto& v = parameters["required"];
  if (!v.is_array()) v.emplace_array();
  auto& list = v.get_array();
  if (std::find(list.begin(), list.end(), json::value(name)) != list.end()) return;
  list.insert(first ? list.begin() : list.end(), json::value(name));
}

} // namespace

inner_arguments read_inner(const std::string& arguments) {
  inner_arguments out;
  auto given = parse_raw_arguments(arguments);
  if (auto* thoughts = given.if_contains("thinking"); thoughts && thoughts->is_string())
    out.thoughts = std::string(json::view(thoughts->get_string()));
  auto* hb = given.if_contains("request_heartbeat");
  if (!hb) return out;
  if (hb->is_bool()) out.heartbeat = hb->get_bool();
  if (hb->is_string()) out.heartbeat = text::lower(json::view(hb->get_string())) == "true";
  if (hb->is_number()) out.heartbeat = hb->to_number<double>() != 0;
  return out;
}

std::string with_heartbeat(const std::string& arguments, bool heartbeat) {
  auto given = parse_arguments(arguments);
  given["request_heartbeat"] = heartbeat;
  return json::print_python(json::value(std::move(given)));
}

void add_heartbeat(offered_tool& t) {
  t.parameters.change([](json::object& parameters) {
    object_member(parameters, "properties")["request_heartbeat"] = property("boolean", heartbeat_description);
    require(parameters, "request_heartbeat", false);
  });
}

void add_thoughts(offered_tool& t) {
  t.parameters.change([](json::object& parameters) {
    auto& properties = object_member(parameters, "properties");
    json::object first;
    first["thinking"] = property("string", thoughts_description);
    for (auto& [name, schema] : properties) first[name] = schema;
    properties = std::move(first);
    require(parameters, "thinking", true);
  });
}

void shape_message(offered_tool& send_message, const std::optional<json::object>& response_format) {
  if (!response_format) return;
  auto type = json::string_or(*response_format, "type");
  json::value said;
  if (type == "json_schema") {
    auto* given = json::find(*response_format, "json_schema");
    auto* schema = given ? json::find(*given, "schema") : nullptr;
    if (!schema) return;
    said = *schema;
  } else if (type == "json_object") {
    auto p = property("object", "What is said, as an object.");
    p["additionalProperties"] = true;
    p["properties"] = json::object{};
    said = std::move(p);
  } else {
    return;
  }
  send_message.parameters.change([&](json::object& parameters) {
    object_member(parameters, "properties")["message"] = std::move(said);
  });
}

std::shared_ptr<const message> with_thoughts_in_arguments(const std::shared_ptr<const message>& m) {
  if (m->tool_calls.empty() || m->content.empty()) return m;
  auto* thoughts = std::get_if<text_content>(&m->content.front());
  if (!thoughts || thoughts->text.empty()) return m;
  auto copy = std::make_shared<message>(*m);
  json::object arguments;
  arguments["thinking"] = boost::json::string(thoughts->text);
  for (auto& [name, v] : parse_raw_arguments(m->tool_calls.front().arguments))
    if (name != "thinking") arguments[name] = v;
  copy->tool_calls.front().arguments = json::print_python(json::value(std::move(arguments)));
  copy->content.erase(copy->content.begin());
  return copy;
}

} // namespace troupe::turn
