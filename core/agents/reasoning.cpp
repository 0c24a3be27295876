#include "core/agents/reasoning.hpp"

#include "core/base/text.hpp"
#include "core/protocol/anthropic.hpp"
#include "core/protocol/openai_chat.hpp"

namespace troupe::agents {

namespace {

enum class family {
  none,          // no reasoning of its own
  openai,        // always on, with a level of effort
  anthropic,     // on or off, with a budget
  gemini_toggle, // on or off, with a budget
  gemini_forced, // always on, with a budget
  toggle         // on or off, nothing else
};

bool starts_with_any(std::string_view s, std::initializer_list<std::string_view> prefixes) {
  for (auto p : prefixes)
    if (s.starts_with(p)) return true;
  return false;
}

bool openrouter_reasons(std::string_view model) {
  auto m = text::lower(model);
  for (std::string_view part : {"/o1", "/o3", "/o4", "/gpt-5", "claude-3-7-sonnet", "claude-sonnet-4",
                                "claude-opus-4", "claude-haiku-4", "gemini", "glm-4.5", "glm-4.6", "glm-4.7",
                                "glm-5", "deepseek-r1", "deepseek-reasoner", "kimi"})
    if (m.find(part) != std::string::npos) return true;
  return false;
}

family family_of(const llm_config& c) {
  std::string_view type = c.model_endpoint_type, model = c.model;
  if (type == "openai" && openai_chat::is_reasoning_model(model)) return family::openai;
  if ((type == "anthropic" || type == "bedrock") && anthropic::can_think(model)) return family::anthropic;
  if (starts_with_any(model, {"gemini-2.5-pro", "gemini-3"})) return family::gemini_forced;
  if ((type == "google_ai" || type == "google_vertex") && model.starts_with("gemini-2.5-flash"))
    return family::gemini_toggle;
  if ((type == "zai" || type == "zai_coding") &&
      starts_with_any(model, {"glm-4.5", "glm-4.6", "glm-4.7", "glm-5"}))
    return family::toggle;
  if (type == "openrouter" && openrouter_reasons(model)) return family::toggle;
  if (type == "baseten") return family::toggle;
  return family::none;
}

bool has_none_effort(std::string_view model) {
  return starts_with_any(model, {"gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4"});
}

void settle_openai(llm_config& c) {
  c.enable_reasoner = true;
  if (!c.reasoning_effort) {
    bool minimal = c.model.starts_with("gpt-5") && c.model.find("codex") == std::string::npos;
    c.reasoning_effort = has_none_effort(c.model) ? "none" : minimal ? "minimal" : "medium";
  }
  if (c.model.starts_with("gpt-5") && !c.verbosity) c.verbosity = "medium";
}

void default_budget(llm_config& c) {
  if (c.max_reasoning_tokens == 0) c.max_reasoning_tokens = 1024;
}

} // namespace

void normalise_reasoning(llm_config& c, bool reasoning, agent_type type) {
  bool v1 = type == agent_type::letta_v1_agent;
  auto kind = family_of(c);
  c.put_inner_thoughts_in_kwargs = false;
  switch (kind) {
  case family::openai: settle_openai(c); return;
  case family::anthropic:
    c.enable_reasoner = reasoning;
    if (reasoning && !anthropic::thinks_adaptively(c.model)) default_budget(c);
    if (!c.effort && anthropic::takes_effort(c.model)) c.effort = "medium";
    return;
  case family::gemini_toggle:
    c.enable_reasoner = reasoning;
    if (reasoning) default_budget(c);
    c.put_inner_thoughts_in_kwargs = reasoning && !v1;
    return;
  case family::gemini_forced:
    c.enable_reasoner = true;
    default_budget(c);
    c.put_inner_thoughts_in_kwargs = !v1;
    return;
  case family::toggle: c.enable_reasoner = reasoning; return;
  case family::none:
    c.enable_reasoner = reasoning && !v1;
    c.put_inner_thoughts_in_kwargs = reasoning && !v1; // older loops have the model write its thoughts down
    if (v1) c.max_reasoning_tokens = 0;
  }
}

} // namespace troupe::agents
