#include "runtime/terminal/printer.hpp"

#include "core/base/text.hpp"

#include <iostream>

namespace troupe::runtime {

void printer::event(std::string_view data) {
  auto e = json::try_parse(data);
  if (!e) return;
  if (run_.empty()) run_ = json::string_or(*e, "run_id");
  auto type = json::string_or(*e, "message_type");
  if (type == "assistant_message")
    text(answer, *e, json::string_or(*e, "content"));
  else if (type == "reasoning_message")
    text(thought, *e, json::string_or(*e, "reasoning"));
  else if (type == "tool_call_message")
    called(*e);
  else if (type == "tool_return_message")
    line("  = " + std::string(json::string_or(*e, "status")));
  else if (type == "error_message")
    line("error: " + std::string(json::string_or(*e, "detail")));
}

// A member of a group has a line of its own, which begins with its name and holds its thoughts, too.
void printer::text(mode m, const json::value& e, std::string_view piece) {
  if (piece.empty()) return;
  auto id = json::string_or(e, "id");
  auto speaker = json::string_or(e, "name");
  if (id != message_) leave();
  if (mode_ != m) {
    bool goes_on = mode_ == thought && !speaker.empty();
    if (goes_on) {
      show_rest();
      out_ << "] ";
    } else {
      leave();
      if (!speaker.empty()) out_ << speaker << ": ";
    }
    if (m == thought) out_ << (speaker.empty() ? "  [" : "[");
  }
  mode_ = m;
  message_ = id;
  show(piece);
}

void printer::called(const json::value& e) {
  auto* call = json::find(e, "tool_call");
  auto name = call ? json::string_or(*call, "name") : std::string_view{};
  if (!name.empty()) line("  > " + std::string(name));
}

void printer::line(const std::string& l) {
  leave();
  out_ << l << std::endl;
}

// Models write ids of agents; people read names. An id is a whole word, which may come in pieces.
void printer::show(std::string_view piece) {
  if (known_.empty()) {
    out_ << piece << std::flush;
    return;
  }
  held_ += piece;
  auto space = held_.find_last_of(" \n");
  if (space == std::string::npos) return;
  auto rest = held_.substr(space + 1);
  held_.resize(space + 1);
  show_rest();
  held_ = std::move(rest);
  out_ << std::flush;
}

void printer::show_rest() {
  if (held_.find("agent-") != std::string::npos)
    for (auto& [id, name] : known_) held_ = text::replace_all(held_, id, name);
  out_ << held_;
  held_.clear();
}

void printer::leave() {
  show_rest();
  if (mode_ == thought) out_ << "]";
  if (mode_ != none) out_ << std::endl;
  mode_ = none;
  message_.clear();
}

} // namespace troupe::runtime
