#include "core/search/message_text.hpp"

namespace troupe::search {

namespace {

void add(std::string& out, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty()) out.push_back('\n');
  out += text;
}

// Events are packed into JSON: only some of them say something.
std::string unpacked(const std::string& text) {
  auto packed = text.starts_with('{') ? json::try_parse(text) : std::nullopt;
  if (!packed || !packed->is_object()) return text;
  auto type = json::string_or(*packed, "type");
  if (type == "heartbeat" || type == "login") return {};
  bool wrapped = type == "user_message" || type == "system_alert";
  return wrapped ? std::string(json::string_or(*packed, "message")) : text;
}

std::string thoughts_and_words(const message& m) {
  std::string out;
  for (auto& part : m.content) {
    if (auto* t = std::get_if<text_content>(&part)) add(out, t->text);
    if (auto* r = std::get_if<reasoning_content>(&part)) add(out, r->reasoning);
    if (auto* s = std::get_if<summarized_reasoning_content>(&part))
      for (auto& p : s->summary) add(out, p.text);
  }
  for (auto& call : m.tool_calls) {
    auto arguments = call.name == "send_message" ? json::try_parse(call.arguments) : std::nullopt;
    if (arguments) add(out, json::string_or(*arguments, "message"));
  }
  return out;
}

} // namespace

std::string text_to_find(const message& m) {
  switch (m.role) {
  case message_role::user:
  case message_role::summary: return unpacked(text_of(m));
  case message_role::assistant:
  case message_role::approval: return thoughts_and_words(m);
  case message_role::tool:
  case message_role::function: return text_of(m);
  case message_role::system: return m.run ? unpacked(text_of(m)) : std::string{};
  }
  return {};
}

} // namespace troupe::search
