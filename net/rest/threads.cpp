#include "net/rest/threads.hpp"

#include "net/rest/parameters.hpp"
#include "storage/conversations.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {
constexpr std::string_view uuid4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
} // namespace

result<thread_name> thread_of_path(const call& c) {
  auto text = c.path_value("conversation_id");
  thread_name out;
  out.is_default = text == "default";
  out.agent = agent_id::parse(text);
  out.conversation = conversation_id::parse(text);
  if (out.is_default || out.agent || out.conversation) return out;
  json::reader r("path");
  json::reader::scope at(r, "conversation_id");
  json::value given = boost::json::string(text);
  auto pattern = "^(default|conv-" + std::string(uuid4) + "|agent-" + std::string(uuid4) + ")$";
  if (text.size() > 42)
    r.fail("string_too_long", "String should have at most 42 characters", given, "{'max_length': 42}");
  else
    r.fail("string_pattern_mismatch", "String should match pattern '" + pattern + "'", given,
           "{'pattern': '" + pattern + "'}");
  return json::to_error(r.errors());
}

result<destination> destination_of(const call& c, const thread_name& name,
                                   const std::optional<std::string>& agent_text) {
  destination to;
  to.replays = true;
  to.run_type = "send_message";
  auto agent = name.agent;
  if (auto text = filled(agent_text); name.is_default && text) {
    auto named = id_named<agent_id>(*text);
    if (!named) return named.error();
    agent = *named;
  }
  if (agent) {
    to.agent = *agent;
    return to;
  }
  auto found = name.conversation
                   ? storage::find_conversation(*c.s.db->snapshot(), *name.conversation, c.by.org)
                   : std::nullopt;
  if (!found)
    return storage::not_found_for("Conversation", std::string(c.path_value("conversation_id")), c.by);
  to.agent = found->agent;
  to.conversation = found->id;
  to.run_type = "send_conversation_message";
  if (filled(found->model)) { // its settings are those of its model, if it has one
    to.model = found->model;
    to.model_settings_ = found->model_settings_;
  }
  return to;
}

} // namespace troupe::net::rest
