// Runs and steps (reference: agent-loop §6).
#pragma once

#include "core/schema/model.hpp"

namespace troupe {

using job_id = id<"job">;

struct run_request_config {
  bool use_assistant_message = true;
  std::string assistant_message_tool_name = "send_message";
  std::string assistant_message_tool_kwarg = "message";
  std::optional<std::vector<message_type>> include_return_message_types;
};
BOOST_DESCRIBE_STRUCT(run_request_config, (),
                      (use_assistant_message, assistant_message_tool_name, assistant_message_tool_kwarg,
                       include_return_message_types))

struct run {
  // -- the API's members, in its order
  run_id id;
  run_status status = run_status::created;
  timestamp created_at;
  std::optional<naive_timestamp> completed_at;
  agent_id agent;
  std::optional<conversation_id> conversation;
  std::optional<std::string> base_template_id;
  bool background = false;
  json::object metadata;
  std::optional<run_request_config> request_config;
  std::optional<stop_reason> stop_reason_;
  std::optional<std::string> callback_url;
  std::optional<naive_timestamp> callback_sent_at;
  std::optional<std::int64_t> callback_status_code;
  std::optional<std::string> callback_error;
  std::optional<std::int64_t> ttft_ns;
  std::optional<std::int64_t> total_duration_ns; // shown in lists only
  // -- ours
  org_id organization_id;
  std::optional<std::string> project_id;
  std::vector<tool_id> tools_used;
  std::vector<step_id> steps;       // in order
  std::uint64_t first_sequence = 0; // of its messages; 0: none yet
  std::uint64_t last_sequence = 0;
  std::vector<std::string> otids; // of the request's messages
  std::optional<group_id> group;  // whose run it is; `agent` leads it
  std::vector<run_id> parts;      // of a group: the turns of its members that it consists of, in order
  std::optional<job_id> batch;    // that it is one request of

  static void write_api(std::string& out, const run& r, bool in_list);
  static void write_metrics(std::string& out, const run& r);
};
BOOST_DESCRIBE_STRUCT(run, (),
                      (id, status, created_at, completed_at, agent, conversation, base_template_id,
                       background, metadata, request_config, stop_reason_, callback_url, callback_sent_at,
                       callback_status_code, callback_error, ttft_ns, total_duration_ns, organization_id,
                       project_id, tools_used, steps, first_sequence, last_sequence, otids, group, parts,
                       batch))

struct step_error {
  std::string message;
  std::string traceback;
  std::optional<json::value> details;
};
BOOST_DESCRIBE_STRUCT(step_error, (), (message, traceback, details))

struct step {
  step_id id;
  std::optional<std::string> origin;
  org_id organization_id;
  std::optional<std::string> provider_id;
  std::optional<run_id> run;
  agent_id agent;
  std::optional<std::string> provider_name;
  std::optional<std::string> provider_category_;
  std::optional<std::string> model;
  std::optional<std::string> model_handle;
  std::optional<std::string> model_endpoint;
  std::optional<std::int64_t> context_window_limit;
  std::int64_t completion_tokens = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t total_tokens = 0;
  std::optional<std::int64_t> cached_input_tokens;
  std::optional<std::int64_t> cache_write_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<json::object> completion_tokens_details;
  std::optional<json::object> prompt_tokens_details;
  std::optional<stop_reason> stop_reason_;
  std::vector<std::string> tags;
  std::optional<std::string> tid;
  std::optional<std::string> trace_id;
  std::optional<std::string> request_id;
  std::optional<feedback_kind> feedback;
  std::optional<std::string> project_id;
  std::optional<std::string> error_type;
  std::optional<step_error> error_data;
  step_status status = step_status::pending;
  // -- ours
  timestamp created_at;
  std::optional<std::int64_t> llm_request_ns;
  std::optional<std::int64_t> tool_execution_ns;
  std::optional<std::int64_t> step_ns;

  static void write_json(std::string& out, const step& s);
  static void write_metrics(std::string& out, const step& s);
};
BOOST_DESCRIBE_STRUCT(step, (),
                      (id, origin, organization_id, provider_id, run, agent, provider_name,
                       provider_category_, model, model_handle, model_endpoint, context_window_limit,
                       completion_tokens, prompt_tokens, total_tokens, cached_input_tokens,
                       cache_write_tokens, reasoning_tokens, completion_tokens_details, prompt_tokens_details,
                       stop_reason_, tags, tid, trace_id, request_id, feedback, project_id, error_type,
                       error_data, status, created_at, llm_request_ns, tool_execution_ns, step_ns))

// Tokens and calls of all of them; cache, reasoning and context stay unknown.
usage_statistics sum_of(const std::vector<step>& steps);

} // namespace troupe
