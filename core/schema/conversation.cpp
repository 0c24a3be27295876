#include "core/schema/conversation.hpp"

#include "core/json/writer.hpp"

namespace troupe {

void write_conversation(std::string& out, const conversation& c, const std::vector<message_id>& in_context) {
  json::object_writer(out)
      .add("created_by_id", c.created_by_id)
      .add("last_updated_by_id", c.last_updated_by_id)
      .add("created_at", c.created_at)
      .add("updated_at", c.updated_at)
      .add("id", c.id)
      .add("agent_id", c.agent)
      .add("summary", c.summary)
      .add("in_context_message_ids", in_context)
      .add("isolated_block_ids", c.isolated_block_ids)
      .add("model", c.model)
      .add("model_settings", c.model_settings_)
      .add("last_message_at", c.last_message_at);
}

} // namespace troupe
