// The body of a send (reference: agent-loop §4.1).
#pragma once

#include "core/schema/message.hpp"

namespace troupe {

struct message_create {
  message_role role = message_role::user;
  std::vector<content_part> content; // a plain string is one text part
  std::optional<std::string> name;
  std::optional<std::string> otid;
  std::optional<std::string> sender_id;
  std::optional<std::string> group_id;
  std::optional<std::string> batch_item_id;
};
BOOST_DESCRIBE_STRUCT(message_create, (), (role, content, name, otid, sender_id, group_id, batch_item_id))

struct approval_create {
  std::optional<std::vector<approval_item>> approvals;
  std::optional<bool> approve;
  std::optional<std::string> approval_request_id;
  std::optional<std::string> reason;
  std::optional<std::string> otid;
  std::optional<std::string> group_id;
};
BOOST_DESCRIBE_STRUCT(approval_create, (), (approvals, approve, approval_request_id, reason, otid, group_id))

struct tool_return_create {
  std::vector<tool_return> tool_returns;
  std::optional<std::string> otid;
  std::optional<std::string> group_id;
};
BOOST_DESCRIBE_STRUCT(tool_return_create, (), (tool_returns, otid, group_id))

using input_message = std::variant<message_create, approval_create, tool_return_create>;
std::optional<std::string> otid_of(const input_message& m);

struct client_tool {
  std::string name;
  std::optional<std::string> description;
  std::optional<json::object> parameters;
  static constexpr std::string_view required[] = {"name"};
};
BOOST_DESCRIBE_STRUCT(client_tool, (), (name, description, parameters))

struct client_skill {
  std::string name;
  std::string description;
  std::string location;
  static constexpr std::string_view required[] = {"name", "description", "location"};
};
BOOST_DESCRIBE_STRUCT(client_skill, (), (name, description, location))

// Every member that any of the send endpoints takes. Which of them count depends on the endpoint.
struct send_request {
  std::vector<input_message> messages;
  bool has_messages = false; // `messages` was given and is not null
  std::int64_t max_steps = 50;
  bool use_assistant_message = true;
  std::string assistant_message_tool_name = "send_message";
  std::string assistant_message_tool_kwarg = "message";
  std::optional<std::vector<message_type>> include_return_message_types;
  std::string enable_thinking;
  std::vector<client_tool> client_tools;
  std::vector<client_skill> client_skills;
  std::optional<std::string> override_model;
  bool include_compaction_messages = false;
  bool return_logprobs = false;
  std::optional<std::int64_t> top_logprobs;
  bool return_token_ids = false;
  std::optional<std::string> override_system;
  std::optional<bool> streaming;
  bool stream_tokens = false;
  bool include_pings = true;
  bool background = false;
  std::optional<std::string> callback_url;  // asynchronous sends
  std::optional<std::string> agent_id_text; // conversations: the agent of `default`

  static bool read_json(json::reader& r, const json::value& v, send_request& out);
};
BOOST_DESCRIBE_STRUCT(send_request, (),
                      (messages, has_messages, max_steps, use_assistant_message, assistant_message_tool_name,
                       assistant_message_tool_kwarg, include_return_message_types, enable_thinking,
                       client_tools, client_skills, override_model, include_compaction_messages,
                       return_logprobs, top_logprobs, return_token_ids, override_system, streaming,
                       stream_tokens, include_pings, background, callback_url, agent_id_text))

// Which members the model of an endpoint has; it passes over the others, whatever they are.
enum class send_model { all, plain, streaming, conversation, async };
bool read_send(json::reader& r, const json::value& v, send_model model, send_request& out);

// A send as an endpoint of this model reads it.
template <send_model M> struct send_body { send_request value; };
template <send_model M> bool read(json::reader& r, const json::value& v, send_body<M>& out) {
  return read_send(r, v, M, out.value);
}

} // namespace troupe
