// An agent: the stored record, the requests that make and change it, and AgentState as the API shows it
// (reference: resources §2).
#pragma once

#include "core/schema/block.hpp"
#include "core/schema/identity.hpp"
#include "core/schema/message.hpp"
#include "core/schema/model.hpp"
#include "core/schema/organization.hpp"
#include "core/schema/tool.hpp"

namespace troupe {

struct secret {
  secret_id id;
  std::string key;
  std::string value;
  std::optional<std::string> description;
};
BOOST_DESCRIBE_STRUCT(secret, (), (id, key, value, description))

// Configuration. Changed by the API, read at the start of every turn.
struct agent {
  agent_id id;
  org_id organization_id;
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  timestamp created_at;
  std::string name;
  std::vector<tool_rule> tool_rules;
  std::string system;
  agent_type type = agent_type::letta_v1_agent;
  llm_config llm;
  std::optional<embedding_config> embedding;
  compaction_settings compaction;
  std::optional<json::object> response_format;
  std::optional<std::string> description;
  std::optional<json::object> metadata;
  std::vector<block_id> block_ids; // in the order of attachment
  std::vector<tool_id> tool_ids;
  std::vector<std::string> tags;
  std::vector<secret> secrets;
  std::optional<std::string> project_id;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::string> deployment_id;
  std::optional<std::string> entity_id;
  std::vector<identity_id> identity_ids;
  std::vector<source_id> source_ids;
  bool message_buffer_autoclear = false;
  std::optional<bool> enable_sleeptime;
  std::string timezone = "UTC";
  std::optional<std::int64_t>
      max_files_open; // as given: without one, readers see what fits the context window
  std::optional<std::int64_t> per_file_view_window_char_limit;
  std::optional<bool> hidden;
};
BOOST_DESCRIBE_STRUCT(agent, (),
                      (id, organization_id, created_by_id, last_updated_by_id, created_at, name, tool_rules,
                       system, type, llm, embedding, compaction, response_format, description, metadata,
                       block_ids, tool_ids, tags, secrets, project_id, template_id, base_template_id,
                       deployment_id, entity_id, identity_ids, source_ids, message_buffer_autoclear,
                       enable_sleeptime, timezone, max_files_open, per_file_view_window_char_limit, hidden))

// What every turn changes: kept apart, so that a turn does not write the whole configuration again.
struct agent_activity {
  timestamp updated_at;
  std::optional<timestamp> last_run_completion;
  std::optional<std::int64_t> last_run_duration_ms;
  std::optional<stop_reason> last_stop_reason;
  std::int64_t message_count = 0; // ever stored, in and out of context
};
BOOST_DESCRIBE_STRUCT(agent_activity, (),
                      (updated_at, last_run_completion, last_run_duration_ms, last_stop_reason,
                       message_count))

// -- requests -------------------------------------------------------------------------------------
// First messages of a new agent.
struct initial_message {
  message_role role = message_role::user;
  std::string content;
  std::optional<std::string> name;

  static bool read_json(json::reader& r, const json::value& v, initial_message& out);
};
BOOST_DESCRIBE_STRUCT(initial_message, (), (role, content, name))

// A handle of the form provider/name, or empty: checked here (422) for embeddings; models are checked later (400).
struct embedding_handle {
  std::string value;
  static bool read_json(json::reader& r, const json::value& v, embedding_handle& out);
};
BOOST_DESCRIBE_STRUCT(embedding_handle, (), (value))

// text, json_object or json_schema; kept as the object that it is.
struct response_format {
  json::object value;
  static bool read_json(json::reader& r, const json::value& v, response_format& out);
};
BOOST_DESCRIBE_STRUCT(response_format, (), (value))

struct create_agent {
  std::optional<std::string> name;
  std::optional<std::vector<create_block>> memory_blocks;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<tool_id>> tool_ids;
  std::optional<std::vector<source_id>> source_ids;
  std::optional<std::vector<source_id>> folder_ids;
  std::optional<std::vector<block_id>> block_ids;
  std::optional<std::vector<tool_rule>> tool_rules;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> system;
  agent_type agent_type_ = agent_type::letta_v1_agent;
  std::optional<std::vector<initial_message>> initial_message_sequence;
  bool include_base_tools = true;
  bool include_multi_agent_tools = false;
  std::optional<bool> include_base_tool_rules;
  bool include_default_source = false;
  std::optional<std::string> description;
  std::optional<json::object> metadata;
  std::optional<llm_config> llm_config_;
  std::optional<embedding_config> embedding_config_;
  std::optional<std::string> model;
  std::optional<embedding_handle> embedding;
  std::optional<model_settings> model_settings_;
  std::optional<json::object> compaction_settings_; // partial: merged over the defaults
  std::optional<std::int64_t> context_window_limit;
  std::optional<std::int64_t> embedding_chunk_size;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> max_reasoning_tokens;
  std::optional<bool> enable_reasoner = true;
  std::optional<bool> reasoning;
  std::optional<std::string> from_template;
  bool template_ = false;
  std::optional<std::string> project;
  std::optional<json::dictionary<std::string>> tool_exec_environment_variables;
  std::optional<json::dictionary<std::string>> secrets;
  std::optional<json::dictionary<std::string>> memory_variables;
  std::optional<std::string> project_id;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::vector<identity_id>> identity_ids;
  bool message_buffer_autoclear = false;
  std::optional<bool> enable_sleeptime;
  std::optional<response_format> response_format_;
  std::optional<std::string> timezone;
  std::optional<std::int64_t> max_files_open;
  std::optional<std::int64_t> per_file_view_window_char_limit;
  std::optional<bool> hidden;
  std::optional<bool> parallel_tool_calls;

  static bool read_json(json::reader& r, const json::value& v, create_agent& out);
};
BOOST_DESCRIBE_STRUCT(create_agent, (),
                      (name, memory_blocks, tools, tool_ids, source_ids, folder_ids, block_ids, tool_rules,
                       tags, system, agent_type_, initial_message_sequence, include_base_tools,
                       include_multi_agent_tools, include_base_tool_rules, include_default_source,
                       description, metadata, llm_config_, embedding_config_, model, embedding,
                       model_settings_, compaction_settings_, context_window_limit, embedding_chunk_size,
                       max_tokens, max_reasoning_tokens, enable_reasoner, reasoning, from_template, template_,
                       project, tool_exec_environment_variables, secrets, memory_variables, project_id,
                       template_id, base_template_id, identity_ids, message_buffer_autoclear,
                       enable_sleeptime, response_format_, timezone, max_files_open,
                       per_file_view_window_char_limit, hidden, parallel_tool_calls))

// PATCH: null and absent mean unchanged, but for max_tokens, where null clears.
struct update_agent {
  std::optional<std::string> name;
  std::optional<std::vector<tool_id>> tool_ids;
  std::optional<std::vector<source_id>> source_ids;
  std::optional<std::vector<source_id>> folder_ids;
  std::optional<std::vector<block_id>> block_ids;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> system;
  std::optional<std::vector<tool_rule>> tool_rules;
  std::optional<std::vector<message_id>> message_ids;
  std::optional<std::string> description;
  std::optional<json::object> metadata;
  std::optional<json::dictionary<std::string>> tool_exec_environment_variables;
  std::optional<json::dictionary<std::string>> secrets;
  std::optional<std::string> project_id;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::vector<identity_id>> identity_ids;
  std::optional<bool> message_buffer_autoclear;
  std::optional<std::string> model;
  std::optional<std::string> embedding; // of any form: what is no handle is not found
  std::optional<model_settings> model_settings_;
  std::optional<json::object> compaction_settings_;
  std::optional<std::int64_t> context_window_limit;
  std::optional<bool> reasoning;
  std::optional<llm_config> llm_config_;
  std::optional<embedding_config> embedding_config_;
  std::optional<bool> parallel_tool_calls;
  std::optional<response_format> response_format_;
  json::maybe<std::int64_t> max_tokens;
  std::optional<bool> enable_sleeptime;
  std::optional<timestamp> last_run_completion;
  std::optional<std::int64_t> last_run_duration_ms;
  std::optional<stop_reason> last_stop_reason;
  std::optional<std::string> timezone;
  std::optional<std::int64_t> max_files_open;
  std::optional<std::int64_t> per_file_view_window_char_limit;
  std::optional<bool> hidden; // accepted, not applied
};
BOOST_DESCRIBE_STRUCT(update_agent, (),
                      (name, tool_ids, source_ids, folder_ids, block_ids, tags, system, tool_rules,
                       message_ids, description, metadata, tool_exec_environment_variables, secrets,
                       project_id, template_id, base_template_id, identity_ids, message_buffer_autoclear,
                       model, embedding, model_settings_, compaction_settings_, context_window_limit,
                       reasoning, llm_config_, embedding_config_, parallel_tool_calls, response_format_,
                       max_tokens, enable_sleeptime, last_run_completion, last_run_duration_ms,
                       last_stop_reason, timezone, max_files_open, per_file_view_window_char_limit, hidden))

// -- AgentState -----------------------------------------------------------------------------------
// The relations that a reader asked for (include / include_relationships; reference: resources §2.11).
struct agent_relations {
  bool blocks = false, tools = false, tags = false, sources = false, identities = false, secrets = false,
       pending_approval = false, managed_group = false;
  static agent_relations all() { return {true, true, true, true, true, true, false, true}; }
};

// Everything that an AgentState is written from.
struct agent_view {
  const agent& record;
  const agent_activity& activity;
  std::vector<message_id> in_context;
  std::vector<block> blocks; // only what `include` asks for needs to be filled
  std::vector<tool> tools;
  std::vector<identity> identities;
  std::string pending_approval = "null"; // JSON text of an approval request message
  std::string managed_group = "null";    // JSON text of the group that it manages
  agent_relations include;
};

void write_agent_state(std::string& out, const agent_view& view);
// The `memory` member, also the answer of GET core-memory.
void write_memory(std::string& out, agent_type type, const std::vector<block>& blocks);

} // namespace troupe
