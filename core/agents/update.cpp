#include "core/agents/update.hpp"

#include "core/agents/reasoning.hpp"

#include <algorithm>

namespace troupe::agents {

bool needs_model(const update_agent& change) {
  return change.model || change.context_window_limit || change.max_tokens.present || change.model_settings_ ||
         change.reasoning;
}

std::string wanted_handle(const update_agent& change, const agent& a) {
  return change.model ? *change.model : a.llm.handle.value_or("");
}

namespace {

void apply_model(agent& a, const update_agent& change, const std::optional<resolved_models>& models) {
  if (change.llm_config_) a.llm = *change.llm_config_;
  if (models && change.model) {
    // A new model sets the window anew; what the agent was told about calls stays.
    auto parallel = a.llm.parallel_tool_calls;
    a.llm = models->llm;
    a.llm.parallel_tool_calls = parallel;
    a.compaction.model = default_compaction_model(a.llm);
  }
  if (change.context_window_limit) a.llm.context_window = *change.context_window_limit;
  if (change.max_tokens.present) a.llm.max_tokens = change.max_tokens.value;
  if (change.model_settings_) apply_settings(a.llm, *change.model_settings_);
  if (change.parallel_tool_calls) a.llm.parallel_tool_calls = change.parallel_tool_calls;
  if (change.model || change.reasoning || change.model_settings_) {
    bool asked = change.reasoning.value_or(a.llm.enable_reasoner);
    normalise_reasoning(a.llm, asked, a.type);
  }
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
  if (change.name && !is_valid_name(*change.name))
    return invalid_argument("Agent name '" + *change.name +
                            "' holds characters that are not allowed: letters, digits, underscores, spaces, "
                            "apostrophes and hyphens are");
  if (change.max_files_open.value_or(0) > 1000)
    return invalid_argument("max_files_open cannot exceed 1000. Got: " +
                            std::to_string(*change.max_files_open));
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
  if (change.tool_exec_environment_variables)
    replace_secrets(a, *change.tool_exec_environment_variables, env);
  if (change.secrets) replace_secrets(a, *change.secrets, env);
  apply_model(a, change, models);
  if (change.compaction_settings_) {
    auto merged = merge_compaction(a.compaction, *change.compaction_settings_);
    if (!merged) return merged.error();
    a.compaction = std::move(*merged);
  }
  if (change.last_run_completion) activity.last_run_completion = change.last_run_completion;
  if (change.last_run_duration_ms) activity.last_run_duration_ms = change.last_run_duration_ms;
  if (change.last_stop_reason) activity.last_stop_reason = change.last_stop_reason;
  a.last_updated_by_id = by.user;
  activity.updated_at = env.now();
  return std::nullopt;
}

} // namespace troupe::agents
