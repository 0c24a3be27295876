#include "core/agents/update.hpp"

#include "core/agents/reasoning.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>

namespace troupe::agents {

bool needs_model(const update_agent& change) {
  // A configuration is whole: what else is said of it does not count.
  if (change.llm_config_) return false;
  return change.model || change.context_window_limit || change.max_tokens.present;
}

std::string wanted_handle(const update_agent& change, const agent& a) {
  return change.model ? *change.model : a.llm.handle.value_or("");
}

namespace {

void apply_model(agent& a, const update_agent& change, const std::optional<resolved_models>& models) {
  auto most_tokens = a.llm.max_tokens;
  if (change.llm_config_) {
    a.llm = *change.llm_config_;
  } else if (models && needs_model(change)) { // everything begins anew with the model
    a.llm = models->llm;
    if (change.context_window_limit) a.llm.context_window = *change.context_window_limit;
    if (change.max_tokens.present) a.llm.max_tokens = change.max_tokens.value;
  }
  if (change.model_settings_) {
    bool named = change.max_tokens.present || change.model_settings_->has("max_output_tokens");
    if (!named) a.llm.max_tokens = most_tokens;
    apply_settings(a.llm, *change.model_settings_);
  }
  if (change.parallel_tool_calls) a.llm.parallel_tool_calls = change.parallel_tool_calls;
  if (change.reasoning) normalise_reasoning(a.llm, *change.reasoning, a.type);
}

std::string provider_of(const llm_config& c) { return c.provider_name.value_or(c.model_endpoint_type); }

// A summariser that was the default of the provider before goes along to the new one.
void follow_provider(compaction_settings& s, const llm_config& before, const llm_config& now) {
  if (provider_of(before) == provider_of(now)) return;
  if (s.model && *s.model != default_compaction_model(before)) return;
  s.model = default_compaction_model(now);
  s.model_settings_.reset();
}

std::optional<error> apply_compaction(agent& a, const llm_config& before, const update_agent& change) {
  auto given = change.compaction_settings_.value_or(json::object{});
  auto settings = a.compaction;
  if (!json::find(given, "model")) follow_provider(settings, before, a.llm);
  auto merged = merge_compaction(settings, given);
  if (!merged) return merged.error();
  // A new mode brings its prompt even where the same request names another.
  if (merged->mode != a.compaction.mode)
    merged->prompt = std::string(prompt::compaction_prompt(merged->mode));
  a.compaction = std::move(*merged);
  return std::nullopt;
}

void replace_secrets(agent& a, const json::dictionary<std::string>& given, environment& env) {
  std::vector<secret> out;
  for (auto& [key, value] : given) {
    auto it = std::find_if(a.secrets.begin(), a.secrets.end(), [&, &k = key](auto& s) { return s.key == k; });
    auto s = it != a.secrets.end() ? *it : secret{env.make_id<secret_id>(), key, {}, std::nullopt};
    s.value = value;
    out.push_back(std::move(s));
  }
  a.secrets = std::move(out);
}

} // namespace

std::optional<error> apply(agent& a, agent_activity& activity, const update_agent& change,
                           const std::optional<resolved_models>& models, const actor& by, environment& env) {
  if (auto wrong = check_file_limits(change.max_files_open, change.per_file_view_window_char_limit))
    return wrong;
  if (change.timezone && !is_time_zone(*change.timezone))
    return invalid_argument("Unknown time zone: " + *change.timezone);
  auto take = [](auto& member, const auto& given) {
    if (given) member = *given;
  };
  take(a.name, change.name);
  take(a.system, change.system);
  take(a.timezone, change.timezone);
  take(a.message_buffer_autoclear, change.message_buffer_autoclear);
  if (change.tool_rules) a.tool_rules = deduplicated(*change.tool_rules);
  if (change.tags) {
    a.tags.clear();
    for (auto& t : *change.tags)
      if (std::find(a.tags.begin(), a.tags.end(), t) == a.tags.end()) a.tags.push_back(t);
  }
  take(a.tool_ids, change.tool_ids);
  take(a.block_ids, change.block_ids);
  take(a.identity_ids, change.identity_ids);
  if (change.description) a.description = change.description;
  if (change.metadata) a.metadata = change.metadata;
  if (change.project_id) a.project_id = change.project_id;
  if (change.template_id) a.template_id = change.template_id;
  if (change.base_template_id) a.base_template_id = change.base_template_id;
  if (change.enable_sleeptime) a.enable_sleeptime = change.enable_sleeptime;
  if (change.response_format_) a.response_format = change.response_format_->value;
  if (change.max_files_open) a.max_files_open = change.max_files_open;
  if (change.per_file_view_window_char_limit)
    a.per_file_view_window_char_limit = change.per_file_view_window_char_limit;
  if (change.embedding_config_) a.embedding = change.embedding_config_;
  if (models && models->embedding) a.embedding = models->embedding;
  if (auto& given = change.secrets ? change.secrets : change.tool_exec_environment_variables)
    replace_secrets(a, *given, env);
  auto before = a.llm;
  apply_model(a, change, models);
  if (auto wrong = apply_compaction(a, before, change)) return wrong;
  if (change.last_run_completion) activity.last_run_completion = change.last_run_completion;
  if (change.last_run_duration_ms) activity.last_run_duration_ms = change.last_run_duration_ms;
  if (change.last_stop_reason) activity.last_stop_reason = change.last_stop_reason;
  a.last_updated_by_id = by.user;
  activity.updated_at = env.now();
  return std::nullopt;
}

} // namespace troupe::agents
