#include "core/group/voice.hpp"

#include "core/base/text.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>

namespace troupe::sleeptime {

namespace {

// What a voice agent says goes through send_message; its plain text is thoughts.
std::string line_of(const stored_message& m) { return lines_of(*m, false); }

std::vector<std::string> lines_of_all(const std::vector<stored_message>& messages) {
  std::vector<std::string> out;
  for (auto& m : messages)
    if (auto line = line_of(m); !line.empty()) out.push_back(std::move(line));
  return out;
}

std::string numbered(const std::vector<std::string>& lines, std::size_t first) {
  std::string out;
  for (auto& line : lines) out += std::to_string(first++) + ". " + line + "\n";
  return out;
}

} // namespace

std::size_t first_that_stays(const std::vector<stored_message>& context, std::int64_t most,
                             std::int64_t least) {
  if (std::ssize(context) - 1 <= most) return 0;
  for (auto i = context.size() - static_cast<std::size_t>(least); i < context.size(); ++i)
    if (context[i]->role == message_role::user && !line_of(context[i]).empty()) return i;
  return 0;
}

std::string voice_letter(const std::vector<stored_message>& going,
                         const std::vector<stored_message>& staying) {
  auto old = lines_of_all(going), young = lines_of_all(staying);
  std::string out(prompt::text("voice_transcript"));
  out += "\n\n<lines_that_go>\n" + numbered(old, 0) + "</lines_that_go>\n<lines_that_stay>\n";
  return out + numbered(young, old.size()) + "</lines_that_stay>";
}

std::vector<tool_rule> voice_rules() {
  auto next = make_rule(tool_rule_type::constrain_child_tools, "store_memories");
  next.children = {"rethink_user_memory", "finish_rethinking_memory"};
  return {make_rule(tool_rule_type::run_first, "store_memories"), std::move(next),
          make_rule(tool_rule_type::continue_loop, "rethink_user_memory"),
          make_rule(tool_rule_type::exit_loop, "finish_rethinking_memory")};
}

std::vector<memory> memories_of(const json::object& arguments, const std::vector<stored_message>& going) {
  std::vector<memory> out;
  auto* chunks = json::find(arguments, "chunks");
  if (!chunks || !chunks->is_array()) return out;
  auto lines = lines_of_all(going);
  for (auto& chunk : chunks->get_array()) {
    auto first = std::max<std::int64_t>(json::int_or(chunk, "start_index", 0), 0);
    auto last = std::min(json::int_or(chunk, "end_index", -1), std::ssize(lines) - 1);
    if (last < first) continue;
    std::vector<std::string> named(lines.begin() + first, lines.begin() + last + 1);
    out.push_back({text::join(named, "\n"), std::string(json::string_or(chunk, "context"))});
  }
  return out;
}

} // namespace troupe::sleeptime
