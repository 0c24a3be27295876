// What an agent thinks with: model and embedding configuration, settings, usage (reference: resources §10.6).
#pragma once

#include "core/schema/enums.hpp"

namespace troupe {

// provider/name; an empty one is a handle that nobody has.
bool is_handle(std::string_view model);

struct llm_config {
  std::string model;
  std::optional<std::string> display_name;
  std::string model_endpoint_type;
  std::optional<std::string> model_endpoint;
  std::optional<std::string> provider_name;
  std::optional<provider_category> provider_category_;
  std::optional<std::string> model_wrapper;
  std::int64_t context_window = 0; // tokens
  std::optional<bool> put_inner_thoughts_in_kwargs = false;
  std::optional<std::string> handle;
  double temperature = 0.7;
  std::optional<std::int64_t> max_tokens; // of one reply
  bool enable_reasoner = true;
  std::optional<std::string> reasoning_effort;
  std::int64_t max_reasoning_tokens = 0;
  std::optional<std::string> effort;
  std::optional<double> frequency_penalty;
  std::optional<std::string> compatibility_type;
  std::optional<std::string> verbosity;
  std::optional<std::string> tier;
  std::optional<bool> parallel_tool_calls = false;
  std::optional<json::object> response_format;
  bool strict = false;
  bool return_logprobs = false;
  std::optional<std::int64_t> top_logprobs;
  bool return_token_ids = false;
  std::optional<std::string> tool_call_parser;

  static constexpr std::string_view required[] = {"model", "model_endpoint_type", "context_window"};
};
BOOST_DESCRIBE_STRUCT(llm_config, (),
                      (model, display_name, model_endpoint_type, model_endpoint, provider_name,
                       provider_category_, model_wrapper, context_window, put_inner_thoughts_in_kwargs,
                       handle, temperature, max_tokens, enable_reasoner, reasoning_effort,
                       max_reasoning_tokens, effort, frequency_penalty, compatibility_type, verbosity, tier,
                       parallel_tool_calls, response_format, strict, return_logprobs, top_logprobs,
                       return_token_ids, tool_call_parser))

struct embedding_config {
  std::string embedding_endpoint_type;
  std::optional<std::string> embedding_endpoint;
  std::string embedding_model;
  std::int64_t embedding_dim = 0;
  std::optional<std::int64_t> embedding_chunk_size = 300;
  std::optional<std::string> handle;
  std::int64_t batch_size = 32;
  std::optional<std::string> azure_endpoint;
  std::optional<std::string> azure_version;
  std::optional<std::string> azure_deployment;

  static constexpr std::string_view required[] = {"embedding_endpoint_type", "embedding_model",
                                                  "embedding_dim"};
};
BOOST_DESCRIBE_STRUCT(embedding_config, (),
                      (embedding_endpoint_type, embedding_endpoint, embedding_model, embedding_dim,
                       embedding_chunk_size, handle, batch_size, azure_endpoint, azure_version,
                       azure_deployment))

// The ModelSettings union, kept as the JSON object that it is, every member of its provider type filled in.
// `explicit_` lists the members that the document itself held.
struct model_settings {
  json::object values;
  std::vector<std::string> explicit_;

  static bool read_json(json::reader& r, const json::value& v, model_settings& out);
  static void write_json(std::string& out, const model_settings& s);
  bool has(std::string_view member) const;
  std::string_view provider_type() const { return json::string_or(values, "provider_type"); }
};
BOOST_DESCRIBE_STRUCT(model_settings, (), (values, explicit_))

// Settings -> the legacy configuration, and back (reference: resources §10.6). max_tokens is only taken over where
// the settings named max_output_tokens.
void apply_settings(llm_config& config, const model_settings& settings);
json::object settings_of(const llm_config& config);

struct compaction_settings {
  std::optional<std::string> model;
  std::optional<model_settings> model_settings_;
  std::optional<std::string> prompt;
  bool prompt_acknowledgement = false;
  std::optional<std::int64_t> clip_chars = 50000; // null: no clipping
  compaction_mode mode = compaction_mode::sliding_window;
  double sliding_window_percentage = 0.3;
};
BOOST_DESCRIBE_STRUCT(compaction_settings, (),
                      (model, model_settings_, prompt, prompt_acknowledgement, clip_chars, mode,
                       sliding_window_percentage))

// As the API reports it; counters that no provider reported stay null while streaming (reference: agent-loop §4.4).
struct usage_statistics {
  std::int64_t completion_tokens = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t total_tokens = 0;
  std::int64_t step_count = 0;
  std::optional<std::vector<std::string>> run_ids;
  std::optional<std::int64_t> cached_input_tokens;
  std::optional<std::int64_t> cache_write_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<std::int64_t> context_tokens;

  static void write_json(std::string& out, const usage_statistics& u);
};
BOOST_DESCRIBE_STRUCT(usage_statistics, (),
                      (completion_tokens, prompt_tokens, total_tokens, step_count, run_ids,
                       cached_input_tokens, cache_write_tokens, reasoning_tokens, context_tokens))

} // namespace troupe
