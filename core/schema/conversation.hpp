// A named thread on an agent (reference: agent-loop §11).
#pragma once

#include "core/schema/model.hpp"

namespace troupe {

struct conversation {
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  timestamp created_at;
  timestamp updated_at;
  conversation_id id;
  agent_id agent;
  std::optional<std::string> summary;
  std::vector<block_id> isolated_block_ids;
  std::optional<std::string> model;
  std::optional<model_settings> model_settings_;
  std::optional<timestamp> last_message_at;
  // -- ours
  org_id organization_id;
};
BOOST_DESCRIBE_STRUCT(conversation, (),
                      (created_by_id, last_updated_by_id, created_at, updated_at, id, agent, summary,
                       isolated_block_ids, model, model_settings_, last_message_at, organization_id))

// The API's form; the ids of the context are not part of the record.
void write_conversation(std::string& out, const conversation& c, const std::vector<message_id>& in_context);

struct create_conversation {
  std::optional<std::string> summary;
  std::optional<std::vector<std::string>> isolated_block_labels;
  std::optional<std::string> model;
  std::optional<model_settings> model_settings_;

  static bool read_json(json::reader& r, const json::value& v, create_conversation& out);
};
BOOST_DESCRIBE_STRUCT(create_conversation, (), (summary, isolated_block_labels, model, model_settings_))

struct update_conversation {
  std::optional<std::string> summary;
  std::optional<std::string> model;
  std::optional<model_settings> model_settings_;
  std::optional<timestamp> last_message_at;

  static bool read_json(json::reader& r, const json::value& v, update_conversation& out);
};
BOOST_DESCRIBE_STRUCT(update_conversation, (), (summary, model, model_settings_, last_message_at))

} // namespace troupe
