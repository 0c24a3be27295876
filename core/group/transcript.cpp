#include "core/group/transcript.hpp"

#include "core/base/text.hpp"
#include "core/json/value.hpp"
#include "core/prompt/system_prompt.hpp"
#include "core/tools/packaging.hpp"

namespace troupe::sleeptime {

namespace {

constexpr std::size_t argument_chars = 200; // of one argument of a call
constexpr std::size_t return_chars = 2000;  // of what a tool returned
constexpr std::size_t bytes_a_token = 4;

std::string cut(std::string_view s, std::size_t chars) {
  auto kept = text::prefix(s, chars);
  return kept.size() == s.size() ? std::string(s) : std::string(kept) + " […]";
}

void add_line(std::string& out, std::string_view speaker, std::string_view words) {
  if (words.empty()) return;
  if (!out.empty()) out.push_back('\n');
  out.append(speaker).append(": ").append(words);
}

// Events are packed into JSON; only those that somebody meant are told.
std::string unpacked(const std::string& s) {
  auto packed = s.starts_with('{') ? json::try_parse(s) : std::nullopt;
  auto type = packed ? json::string_or(*packed, "type") : std::string_view{};
  if (type == "heartbeat" || type == "login") return {};
  bool wrapped = type == "user_message" || type == "system_alert";
  return wrapped ? std::string(json::string_or(*packed, "message")) : s;
}

bool is_summary(const message& m) {
  if (m.role == message_role::summary) return true;
  return m.role == message_role::user && !m.otid && text_of(m).find("\"system_alert\"") != std::string::npos;
}

std::string heard(const message& m) {
  std::string out;
  for (auto& part : m.content) {
    if (auto* t = std::get_if<text_content>(&part)) out += unpacked(t->text);
    if (std::holds_alternative<image_content>(part)) out += out.empty() ? "[an image]" : " [an image]";
  }
  return out;
}

// name(label: "human", line: 3). Without braces, so that nobody takes it for a call to be made.
std::string call_text(const tool_call& call) {
  std::string out = call.name + "(";
  auto arguments = json::try_parse(call.arguments);
  if (arguments && arguments->is_object())
    for (auto& [key, v] : arguments->get_object()) {
      if (out.back() != '(') out += ", ";
      out.append(json::view(key)).append(": ").append(cut(json::print(v), argument_chars));
    }
  return out + ")";
}

void add_calls(std::string& out, const message& m) {
  for (auto& call : m.tool_calls) {
    auto arguments = call.name == "send_message" ? json::try_parse(call.arguments) : std::nullopt;
    if (arguments)
      add_line(out, "assistant", json::string_or(*arguments, "message"));
    else
      add_line(out, "assistant", "Tool used: " + call_text(call));
  }
}

std::string returned(const tool_return& r) {
  if (auto* packed = std::get_if<std::string>(&r.func_response)) {
    auto u = tools::unpack_result(*packed);
    return cut(u ? u->message : *packed, return_chars);
  }
  std::string out;
  for (auto& part : std::get<1>(r.func_response)) {
    auto* t = std::get_if<text_content>(&part);
    out += t ? t->text : "[an image]";
  }
  return cut(out, return_chars);
}

std::string approval_text(const message& m) {
  std::string out;
  for (auto& a : m.approvals) {
    if (a.is_return)
      add_line(out, "user", "Tool of the client returned " + returned(a.returned));
    else
      add_line(out, "user", a.approve ? "The tool was approved" : "The tool was refused");
    if (!a.is_return && !a.approve && a.reason) out.append(": ").append(*a.reason);
  }
  return out;
}

bool begins_an_exchange(const message& m) {
  return m.role == message_role::user || m.role == message_role::system;
}

} // namespace

std::string lines_of(const message& m, bool text_is_speech) {
  std::string out;
  switch (m.role) {
  case message_role::user:
    if (!is_summary(m)) add_line(out, m.name.value_or("user"), heard(m));
    break;
  case message_role::system:
    if (m.run) add_line(out, m.name.value_or("system"), heard(m));
    break;
  case message_role::assistant:
    if (text_is_speech) add_line(out, m.name.value_or("assistant"), text_of(m));
    add_calls(out, m);
    break;
  case message_role::tool:
  case message_role::function:
    for (auto& r : m.tool_returns) add_line(out, "assistant", "Tool call returned " + returned(r));
    break;
  case message_role::approval:
    add_calls(out, m);
    if (!is_approval_request(m)) out = approval_text(m);
    break;
  case message_role::summary: break;
  }
  return out;
}

excerpt excerpt_of(const std::vector<stored_message>& messages, bool text_is_speech, std::size_t tokens) {
  const auto room = tokens * bytes_a_token;
  excerpt all, whole; // `whole`: up to the last exchange that fits as a whole
  for (auto& m : messages) {
    auto lines = lines_of(*m, text_is_speech);
    if (begins_an_exchange(*m) && !lines.empty() && all.covers > 0) whole = all;
    if (all.text.size() + lines.size() + 1 > room) {
      if (whole.covers > 0) return whole;
      if (all.covers > 0) return all;
      lines = cut(lines, room);
    }
    if (!lines.empty() && !all.text.empty()) all.text.push_back('\n');
    all.text += lines;
    ++all.covers;
  }
  return all;
}

std::string letter(const std::string& lines) {
  return std::string(prompt::text("sleeptime_transcript")) + "\n\n" + lines;
}

} // namespace troupe::sleeptime
