// A group of agents and its manager: the stored record, the requests that make and change it, the rules for them
// (reference: groups §1.3, §1.4).
#pragma once

#include "core/schema/organization.hpp"

namespace troupe {

class environment;

enum class manager_type { round_robin, supervisor, dynamic, sleeptime, voice_sleeptime, swarm };
BOOST_DESCRIBE_ENUM(manager_type, round_robin, supervisor, dynamic, sleeptime, voice_sleeptime, swarm)

// The groups of an agent and those that tidy up its memory behind it.
constexpr bool is_sleeptime(manager_type t) noexcept {
  return t == manager_type::sleeptime || t == manager_type::voice_sleeptime;
}

// The groups whose manager answers for them: what is said to it is said to the group.
constexpr bool leads(manager_type t) noexcept {
  return t == manager_type::supervisor || t == manager_type::dynamic;
}

enum class on_member_error { abort, skip, retry };
BOOST_DESCRIBE_ENUM(on_member_error, abort, skip, retry)

// What a group may be told beside what the original knew; answers show what is set.
struct group_options {
  std::optional<on_member_error> on_member_error_; // nothing: abort
  std::optional<std::int64_t> member_retries;      // times that a failed turn is tried again; nothing: 1
  std::optional<std::int64_t> member_deadline_s;   // of one turn of a member, seconds
  std::optional<std::int64_t> token_budget;        // of one run: no turn begins once it is used up
  std::optional<std::int64_t> quiet_rounds;        // turns in a row without a word that end a run
  std::optional<std::int64_t> idle_seconds;        // sleeptime: companions begin when it was so long quiet
  std::optional<agent_id> first_agent_id;          // of a swarm: who has the word first
};
BOOST_DESCRIBE_STRUCT(group_options, (),
                      (on_member_error_, member_retries, member_deadline_s, token_budget, quiet_rounds,
                       idle_seconds, first_agent_id))

struct group {
  group_id id;
  manager_type manager_type_ = manager_type::round_robin;
  std::vector<agent_id>
      agent_ids; // in the order of their turns; who was deleted in the meantime is still named
  std::string description;
  std::optional<std::string> project_id;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::string> deployment_id;
  std::optional<agent_id> manager_agent_id;
  std::optional<std::string> termination_token;
  std::optional<std::int64_t> max_turns;
  std::optional<std::int64_t> sleeptime_agent_frequency; // nothing: every turn; 0: never
  std::optional<std::int64_t> turns_counter; // where there is a frequency; -1 before the first turn
  std::optional<message_id> last_processed_message_id;
  std::optional<std::int64_t> max_message_buffer_length;
  std::optional<std::int64_t> min_message_buffer_length;
  std::optional<bool> hidden;
  // -- ours
  org_id organization_id;
  timestamp created_at;
  group_options options;
  std::vector<block_id>
      block_ids; // shared; answers never show them (the member is deprecated and always empty)

  static void write_json(std::string& out, const group& g);
};
BOOST_DESCRIBE_STRUCT(group, (),
                      (id, manager_type_, agent_ids, description, project_id, template_id, base_template_id,
                       deployment_id, manager_agent_id, termination_token, max_turns,
                       sleeptime_agent_frequency, turns_counter, last_processed_message_id,
                       max_message_buffer_length, min_message_buffer_length, hidden, organization_id,
                       created_at, block_ids, options))

// `manager_config` of a request: a union by manager_type. Of the members only those of the type are read.
struct manager_config {
  manager_type manager_type_ = manager_type::round_robin;
  json::maybe<agent_id> manager_agent_id;
  json::maybe<std::string> termination_token;
  json::maybe<std::int64_t> max_turns;
  json::maybe<std::int64_t> sleeptime_agent_frequency;
  json::maybe<std::int64_t> max_message_buffer_length;
  json::maybe<std::int64_t> min_message_buffer_length;
  struct {
    json::maybe<on_member_error> on_member_error_;
    json::maybe<std::int64_t> member_retries, member_deadline_s, token_budget, quiet_rounds, idle_seconds;
    json::maybe<agent_id> first_agent_id;
  } options;
};
// For a new group the manager is required where there is one.
struct new_manager : manager_config {
  static bool read_json(json::reader& r, const json::value& v, new_manager& out);
};
BOOST_DESCRIBE_STRUCT(new_manager, (), ())
struct manager_change : manager_config {
  static bool read_json(json::reader& r, const json::value& v, manager_change& out);
};
BOOST_DESCRIBE_STRUCT(manager_change, (), ())

struct create_group {
  std::vector<agent_id> agent_ids;
  std::string description;
  new_manager manager_config_;
  std::optional<std::string> project_id; // checked and not kept, as `hidden`
  std::vector<block_id> shared_block_ids;
  std::optional<bool> hidden;

  static constexpr std::string_view required[] = {"agent_ids", "description"};
};
BOOST_DESCRIBE_STRUCT(create_group, (),
                      (agent_ids, description, manager_config_, project_id, shared_block_ids, hidden))

// A group that a template makes.
struct create_template_group {
  std::vector<agent_id> agent_ids;
  std::string description;
  new_manager manager_config_;
  std::optional<std::string> project_id;
  std::vector<block_id> shared_block_ids;
  std::optional<bool> hidden;
  std::string base_template_id, template_id, deployment_id;

  static constexpr std::string_view required[] = {"agent_ids", "description", "base_template_id",
                                                  "template_id", "deployment_id"};
};
BOOST_DESCRIBE_STRUCT(create_template_group, (),
                      (agent_ids, description, manager_config_, project_id, shared_block_ids, hidden,
                       base_template_id, template_id, deployment_id))

// PATCH: absent means unchanged. 0, "" and [] are values like others; null takes a limit, a token or a frequency away.
struct update_group {
  std::optional<std::vector<agent_id>> agent_ids;
  std::optional<std::string> description;
  std::optional<manager_change> manager_config_;
  std::optional<std::string> project_id;                 // checked and not kept
  std::optional<std::vector<block_id>> shared_block_ids; // the same
};
BOOST_DESCRIBE_STRUCT(update_group, (),
                      (agent_ids, description, manager_config_, project_id, shared_block_ids))

// Errors: invalid_argument, for lengths of buffers that do not fit each other.
result<group> make_group(const create_group& request, const org_id& org, environment& env);
// Errors: the same, and for another type of manager.
result<void> apply(group& g, const update_group& change);
// Nobody is named twice. Errors: unprocessable, invalid_argument.
result<void> check_distinct(const group& g);

} // namespace troupe
