#include "core/agents/defaults.hpp"

#include "core/base/text.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>

namespace troupe::agents {

using names = std::vector<std::string>;

names base_tool_names(agent_type type, bool enable_sleeptime) {
  switch (type) {
  case agent_type::voice_sleeptime_agent:
    return {"store_memories", "rethink_user_memory", "finish_rethinking_memory"};
  case agent_type::voice_convo_agent: return {"send_message", "search_memory"};
  case agent_type::sleeptime_agent:
    return {"memory_replace", "memory_insert", "memory_rethink", "memory_finish_edits"};
  default: break;
  }
  if (enable_sleeptime) return {"send_message", "conversation_search", "archival_memory_search"};
  switch (type) {
  case agent_type::memgpt_v2_agent:
    return {"send_message", "conversation_search", "memory_replace", "memory_insert"};
  case agent_type::letta_v1_agent: return {"conversation_search", "memory_replace", "memory_insert"};
  case agent_type::react_agent:
  case agent_type::workflow_agent: return {};
  default:
    return {"send_message", "conversation_search", "core_memory_append", "core_memory_replace",
            "memory",       "memory_apply_patch"};
  }
}

names multi_agent_tool_names() {
  return {"send_message_to_agent_and_wait_for_reply", "send_message_to_agents_matching_tags",
          "send_message_to_agent_async"};
}

bool wants_base_rules(const create_agent& request, const std::string& model) {
  if (request.include_base_tool_rules) return *request.include_base_tool_rules;
  bool plain = request.agent_type_ == agent_type::letta_v1_agent && !request.enable_sleeptime.value_or(false);
  bool has_rules = request.tool_rules && !request.tool_rules->empty();
  if (plain && request.include_base_tools && !has_rules) return false;
  if (request.agent_type_ == agent_type::sleeptime_agent || model.find("mini") != std::string::npos)
    return true;
  for (std::string_view excluded : {"claude-4-sonnet", "claude-3-5-sonnet", "gpt-5", "gemini-2.5-pro"})
    if (model.find(excluded) != std::string::npos) return false;
  return true;
}

std::optional<tool_rule> base_rule(const std::string& name, tool_type type) {
  for (std::string_view ending : {"send_message", "send_message_to_agent_async", "memory_finish_edits"})
    if (name == ending) return make_rule(tool_rule_type::exit_loop, name);
  if (type == tool_type::letta_core || type == tool_type::letta_memory_core ||
      type == tool_type::letta_sleeptime_core)
    return make_rule(tool_rule_type::continue_loop, name);
  return std::nullopt;
}

std::string random_name(environment& env) {
  constexpr std::string_view adjectives[] = {
      "Amber",  "Brave", "Calm",   "Clever",  "Cosmic", "Curious", "Eager",  "Gentle",
      "Golden", "Happy", "Hidden", "Honest",  "Jolly",  "Kind",    "Lively", "Lucky",
      "Mellow", "Merry", "Nimble", "Patient", "Quiet",  "Rapid",   "Silent", "Silver",
      "Steady", "Sunny", "Swift",  "Tidy",    "Warm",   "Wise",    "Witty",  "Bright"};
  constexpr std::string_view nouns[] = {
      "Anchor", "Badger", "Beacon",  "Birch",   "Bridge",  "Canyon", "Cedar",   "Comet",
      "Falcon", "Fern",   "Forge",   "Garden",  "Harbor",  "Heron",  "Island",  "Lantern",
      "Maple",  "Meadow", "Mirror",  "Orchard", "Otter",   "Pebble", "Prairie", "Raven",
      "River",  "Robin",  "Sparrow", "Summit",  "Thistle", "Tower",  "Valley",  "Willow"};
  auto r = env.random_uuid();
  return std::string(adjectives[r.bytes[0] % std::size(adjectives)]) +
         std::string(nouns[r.bytes[1] % std::size(nouns)]);
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || !text::is_utf8(name)) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    bool ascii_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    bool other = static_cast<unsigned char>(c) >= 0x80; // letters of other scripts
    return ascii_word || other || c == ' ' || c == '\'' || c == '-' || c == '\t' || c == '\n';
  });
}

std::string default_compaction_model(const llm_config& llm) {
  auto provider = llm.provider_name.value_or(llm.model_endpoint_type);
  if (provider == "anthropic") return "anthropic/claude-haiku-4-5";
  if (provider == "openai") return "openai/gpt-5-mini";
  if (provider == "google_ai") return "google_ai/gemini-2.5-flash";
  if (provider == "letta") return "letta/auto";
  return llm.handle.value_or("");
}

compaction_settings default_compaction(const llm_config& llm) {
  compaction_settings s;
  s.model = default_compaction_model(llm);
  s.prompt = std::string(prompt::compaction_prompt(s.mode));
  return s;
}

result<compaction_settings> merge_compaction(const compaction_settings& base, const json::object& given) {
  json::reader r("body");
  json::reader::scope at(r, "compaction_settings");
  auto out = base;
  json::read_members(r, given, out);
  if (!r.ok()) return json::to_error(r.errors());
  if (out.mode != base.mode && !json::find(given, "prompt"))
    out.prompt = std::string(prompt::compaction_prompt(out.mode));
  return out;
}

std::optional<std::string> default_block_description(const std::string& label) {
  if (label == "human") return std::string(prompt::text("block_human"));
  if (label == "persona") return std::string(prompt::text("block_persona"));
  return std::nullopt;
}

} // namespace troupe::agents
