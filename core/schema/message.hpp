// A stored message (reference: agent-loop §3.1). What clients see of it is made by core/project.
#pragma once

#include "core/schema/enums.hpp"

namespace troupe {

// -- content parts --------------------------------------------------------------------------------
struct text_content {
  std::string text;
  std::optional<std::string> signature;
};
BOOST_DESCRIBE_STRUCT(text_content, (), (text, signature))

// url, base64 or letta (stored). A stored one keeps its data.
struct image_content {
  std::string source_type;
  std::optional<std::string> url;
  std::optional<file_id> file_id_;
  std::optional<std::string> media_type;
  std::optional<std::string> data; // base64
  std::optional<std::string> detail;
};
BOOST_DESCRIBE_STRUCT(image_content, (), (source_type, url, file_id_, media_type, data, detail))

struct reasoning_content {
  bool is_native = false;
  std::string reasoning;
  std::optional<std::string> signature;
};
BOOST_DESCRIBE_STRUCT(reasoning_content, (), (is_native, reasoning, signature))

struct redacted_reasoning_content {
  std::string data;
};
BOOST_DESCRIBE_STRUCT(redacted_reasoning_content, (), (data))

struct omitted_reasoning_content {
  std::optional<std::string> signature;
};
BOOST_DESCRIBE_STRUCT(omitted_reasoning_content, (), (signature))

struct summary_part {
  std::int64_t index = 0;
  std::string text;
  static constexpr std::string_view required[] = {"index", "text"};
};
BOOST_DESCRIBE_STRUCT(summary_part, (), (index, text))

struct summarized_reasoning_content {
  std::string id;
  std::vector<summary_part> summary;
  std::optional<std::string> encrypted_content;
};
BOOST_DESCRIBE_STRUCT(summarized_reasoning_content, (), (id, summary, encrypted_content))

// Tool calls and returns as content parts are accepted in requests and kept, without effect.
struct other_content {
  json::object part;
};
BOOST_DESCRIBE_STRUCT(other_content, (), (part))

using content_part = std::variant<text_content, image_content, reasoning_content, redacted_reasoning_content,
                                  omitted_reasoning_content, summarized_reasoning_content, other_content>;

void write_content_part(std::string& out, const content_part& part);
bool read_content_part(json::reader& r, const json::value& v, content_part& out);
// The same of what a tool returned: a text or an image.
bool read_return_part(json::reader& r, const json::value& v, content_part& out);

// -- calls and returns ----------------------------------------------------------------------------
struct tool_call {
  std::string id;
  std::string name;
  std::string arguments; // JSON text, as it is kept
};
BOOST_DESCRIBE_STRUCT(tool_call, (), (id, name, arguments))

struct tool_return {
  std::optional<std::string> tool_call_id;
  return_status status = return_status::success;
  std::optional<std::vector<std::string>> stdout_;
  std::optional<std::vector<std::string>> stderr_;
  std::variant<std::string, std::vector<content_part>>
      func_response; // packed JSON, or the parts of a multimodal return
};
BOOST_DESCRIBE_STRUCT(tool_return, (), (tool_call_id, status, stdout_, stderr_, func_response))

// One item of an approval: the decision on one call, or what a client's own tool returned.
struct approval_item {
  bool is_return = false;
  std::string tool_call_id;
  bool approve = false;
  std::optional<std::string> reason;
  tool_return returned; // where is_return
};
BOOST_DESCRIBE_STRUCT(approval_item, (), (is_return, tool_call_id, approve, reason, returned))

// -- the message ----------------------------------------------------------------------------------
struct message {
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  timestamp created_at;
  timestamp updated_at;
  message_id id;
  agent_id agent;
  std::optional<std::string> model;
  message_role role = message_role::user;
  std::vector<content_part> content;
  std::optional<std::string> name;
  std::vector<tool_call> tool_calls;
  std::optional<std::string> tool_call_id;
  std::optional<step_id> step;
  std::optional<run_id> run;
  std::optional<std::string> otid;
  std::vector<tool_return> tool_returns;
  std::optional<std::string> group;
  std::optional<std::string> sender_id;
  std::optional<std::string> batch_item_id;
  std::optional<conversation_id> conversation;
  bool is_err = false;
  std::optional<std::string> approval_request_id;
  std::optional<bool> approve;
  std::optional<std::string> denial_reason;
  std::vector<approval_item> approvals;
  org_id organization_id;

  // The raw form, as the context overview shows it.
  static void write_json(std::string& out, const message& m);
};
BOOST_DESCRIBE_STRUCT(message, (),
                      (created_by_id, last_updated_by_id, created_at, updated_at, id, agent, model, role,
                       content, name, tool_calls, tool_call_id, step, run, otid, tool_returns, group,
                       sender_id, batch_item_id, conversation, is_err, approval_request_id, approve,
                       denial_reason, approvals, organization_id))

// True for an approval message that asks; false for one that answers.
inline bool is_approval_request(const message& m) {
  return m.role == message_role::approval && !m.tool_calls.empty();
}

// The text parts, joined by nothing.
std::string text_of(const message& m);

} // namespace troupe
