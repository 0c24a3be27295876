#include "core/prompt/system_prompt.hpp"

#include "core/base/embedded.hpp"
#include "core/base/text.hpp"

namespace troupe::prompt {

std::string_view text(std::string_view name) {
  auto t = embedded("prompts/" + std::string(name) + ".txt");
  while (t.ends_with('\n')) t.remove_suffix(1);
  return t;
}

std::optional<std::string_view> default_system(agent_type type) {
  switch (type) {
  case agent_type::memgpt_agent:
  case agent_type::memgpt_v2_agent: return text("memgpt_chat");
  case agent_type::letta_v1_agent: return text("letta_v1");
  case agent_type::react_agent: return text("react");
  case agent_type::workflow_agent: return text("workflow");
  case agent_type::sleeptime_agent: return text("sleeptime");
  case agent_type::voice_convo_agent: return text("voice_chat");
  case agent_type::voice_sleeptime_agent: return text("voice_sleeptime");
  case agent_type::split_thread_agent: return std::nullopt;
  }
  return std::nullopt;
}

std::string_view compaction_prompt(compaction_mode mode) {
  switch (mode) {
  case compaction_mode::all: return text("compact_all");
  case compaction_mode::sliding_window: return text("compact_sliding_window");
  case compaction_mode::self_compact_all: return text("compact_self_all");
  case compaction_mode::self_compact_sliding_window: return text("compact_self_sliding_window");
  }
  return {};
}

namespace {

bool shows_blocks(agent_type t) { return t != agent_type::react_agent && t != agent_type::workflow_agent; }

// Values with a number before each line, for models that edit by line.
bool numbers_lines(const agent& a) {
  bool type = a.type == agent_type::sleeptime_agent || a.type == agent_type::memgpt_v2_agent ||
              a.type == agent_type::letta_v1_agent;
  return type && a.llm.model_endpoint_type == "anthropic";
}

void write_value(std::string& out, const block& b, bool numbered) {
  if (!numbered) {
    out.append(b.value).append("\n");
    return;
  }
  if (b.value.empty()) return;
  std::size_t n = 0;
  for (auto& line : text::split(b.value, '\n'))
    out.append(std::to_string(++n)).append("→ ").append(line).append("\n");
}

void write_block(std::string& out, const block& b, bool numbered) {
  out.append("<")
      .append(b.label)
      .append(">\n<description>\n")
      .append(b.description.value_or(""))
      .append("\n</description>\n<metadata>\n");
  if (b.read_only) out += "- read_only=true\n";
  out.append("- chars_current=").append(std::to_string(text::length(b.value))).append("\n");
  out.append("- chars_limit=").append(std::to_string(b.limit)).append("\n</metadata>\n");
  if (numbered) out.append("<warning>\n").append(text("line_number_warning")).append("\n</warning>\n");
  out += "<value>\n";
  write_value(out, b, numbered);
  out.append("</value>\n</").append(b.label).append(">\n");
}

std::string render_blocks(const agent& a, const std::vector<block>& blocks) {
  bool numbered = numbers_lines(a);
  if (blocks.empty() && !numbered) return {};
  std::string out = "<memory_blocks>\n";
  out.append(text("memory_intro")).append("\n\n");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i) out += "\n";
    write_block(out, blocks[i], numbered);
  }
  return out + "\n</memory_blocks>";
}

// Continue, then the rules about order in the order they were given, then parents, then terminal ones (§7.4).
std::string render_rules(const std::vector<tool_rule>& rules) {
  std::vector<std::string> sentences;
  auto take = [&](auto wanted) {
    for (auto& rule : rules)
      if (wanted(rule.type)) sentences.push_back(rule_sentence(rule));
  };
  take([](tool_rule_type t) { return t == tool_rule_type::continue_loop; });
  take([](tool_rule_type t) {
    return t == tool_rule_type::constrain_child_tools || t == tool_rule_type::conditional ||
           t == tool_rule_type::max_count_per_step;
  });
  take([](tool_rule_type t) { return t == tool_rule_type::parent_last_tool; });
  take([](tool_rule_type t) { return t == tool_rule_type::exit_loop; });
  if (sentences.empty()) return {};
  return "<tool_usage_rules>\n" + std::string(text("tool_rules_intro")) + "\n\n" +
         text::join(sentences, "\n") + "\n</tool_usage_rules>";
}

std::string render_metadata(const agent& a, const memory_counts& counts, timestamp recompiled,
                            const std::optional<conversation_id>& conversation) {
  std::string out = "<memory_metadata>\n- AGENT_ID: " + a.id.str();
  out += "\n- CONVERSATION_ID: " + (conversation ? conversation->str() : "default");
  out += "\n- System prompt last recompiled: " + format_prompt_time(recompiled, a.timezone);
  out += "\n- " + std::to_string(counts.messages_outside_context) +
         " previous messages between you and the user are stored in recall memory";
  if (counts.archival_passages > 0)
    out += "\n- " + std::to_string(counts.archival_passages) +
           " total memories you created are stored in archival memory (use tools to access them)";
  if (!counts.archive_tags.empty())
    out += "\n- Available archival memory tags: " + text::join(counts.archive_tags, ", ");
  return out + "\n</memory_metadata>";
}

constexpr std::string_view placeholder = "{CORE_MEMORY}";

// The element of that name, tags included, outside the stretch [skip_begin, skip_end).
std::optional<std::string_view> element(std::string_view text, std::string_view name, std::size_t skip_begin,
                                        std::size_t skip_end) {
  std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  for (std::size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at + 1)) {
    if (at >= skip_begin && at < skip_end) continue;
    auto end = text.find(close, at);
    if (end == std::string_view::npos) return std::nullopt;
    return text.substr(at, end + close.size() - at);
  }
  return std::nullopt;
}

} // namespace

std::string rule_sentence(const tool_rule& rule) {
  auto tagged = [](const std::string& s) { return "<tool_rule>\n" + s + "\n</tool_rule>"; };
  switch (rule.type) {
  case tool_rule_type::continue_loop:
    return tagged(rule.tool_name + " requires continuing your response when called");
  case tool_rule_type::constrain_child_tools:
    return tagged("After using " + rule.tool_name +
                  ", you must use one of these tools: " + text::join(rule.children, ", "));
  case tool_rule_type::conditional:
    return tagged(rule.tool_name + " will determine which tool to use next based on its output");
  case tool_rule_type::max_count_per_step:
    return tagged(rule.tool_name + ": at most " + std::to_string(rule.max_count_limit) +
                  " use(s) per response");
  case tool_rule_type::parent_last_tool:
    return tagged(text::join(rule.children, ", ") + " can only be used after " + rule.tool_name);
  case tool_rule_type::exit_loop:
    return tagged(rule.tool_name + " ends your response (yields control) when called");
  default: return {};
  }
}

std::string compile_memory(const agent& a, const std::vector<block>& blocks) {
  std::string out = shows_blocks(a.type) ? render_blocks(a, blocks) : std::string{};
  auto rules = render_rules(a.tool_rules);
  if (!rules.empty()) out += "\n\n" + rules;
  return out;
}

std::string compile_system_message(const agent& a, const std::vector<block>& blocks,
                                   const memory_counts& counts, timestamp recompiled,
                                   const std::optional<conversation_id>& conversation) {
  auto memory = compile_memory(a, blocks) + "\n\n" + render_metadata(a, counts, recompiled, conversation);
  if (a.system.find(placeholder) == std::string::npos) return a.system + "\n\n" + memory;
  return text::replace_all(a.system, placeholder, memory);
}

system_parts split_system_message(std::string_view text) {
  system_parts out;
  auto none = std::string_view::npos;
  auto memory_begin = text.find("<memory_blocks>"), memory_end = text.rfind("</memory_blocks>");
  if (memory_begin != none && memory_end != none && memory_end > memory_begin)
    out.core_memory =
        text.substr(memory_begin, memory_end + std::string_view("</memory_blocks>").size() - memory_begin);
  else
    memory_begin = memory_end = none;
  out.tool_usage_rules = element(text, "tool_usage_rules", memory_begin, memory_end);
  out.directories = element(text, "directories", memory_begin, memory_end);
  out.metadata = element(text, "memory_metadata", memory_begin, memory_end).value_or(std::string_view{});
  if (auto base = element(text, "base_instructions", memory_begin, memory_end)) {
    out.system_prompt = *base;
    return out;
  }
  auto first = text.size();
  for (std::string_view tag : {"<memory_blocks>", "<tool_usage_rules>", "<directories>", "<memory_metadata>"})
    first = std::min(first, text.find(tag));
  out.system_prompt = text::trim(text.substr(0, first));
  return out;
}

} // namespace troupe::prompt
