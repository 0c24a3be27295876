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

namespace {

// Settings of a conversation say which provider's they are.
bool check_settings(json::reader& r, const json::object& o) {
  auto* settings = json::find(o, "model_settings");
  if (!settings || !settings->is_object() || json::find(*settings, "provider_type")) return true;
  json::reader::scope at(r, "model_settings");
  return r.fail("union_tag_not_found", "Unable to extract tag using discriminator 'provider_type'", *settings,
                "{'discriminator': \"'provider_type'\"}");
}

template <class T> bool read_request(json::reader& r, const json::value& v, T& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = json::read_members(r, *o, out);
  return check_settings(r, *o) && good;
}

} // namespace

bool create_conversation::read_json(json::reader& r, const json::value& v, create_conversation& out) {
  return read_request(r, v, out);
}

bool update_conversation::read_json(json::reader& r, const json::value& v, update_conversation& out) {
  return read_request(r, v, out);
}

} // namespace troupe
