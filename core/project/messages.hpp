// Stored message -> the API's messages (reference: agent-loop §3). One stored message gives none, one or several,
// which share its id and are told apart by otid.
#pragma once

#include "core/json/writer.hpp"
#include "core/schema/message.hpp"

#include <memory>

namespace troupe::project {

struct api_message {
  message_type type = message_type::user_message;
  message_id id;
  std::string body; // JSON text
};

struct options {
  bool use_assistant_message = true;
  std::string assistant_message_tool_name = "send_message";
  std::string assistant_message_tool_kwarg = "message";
  bool text_is_assistant_message = true; // else the text of an assistant message is its reasoning
  std::optional<run_id> run{};           // what they are told as, where their own is only a part of it
  bool reverse = false; // the parts of one message last first (the caller orders the messages)
};

using stored_message = std::shared_ptr<const message>;

// 32 hex digits with dashes: the message's uuid with its low seven bits replaced by the index of the part.
std::string otid(const message_id& id, unsigned index);

// The members that every message and event of the API begins with (reference: agent-loop §3.2), of what the server
// makes up itself: without a name, a sender or an error.
struct message_head {
  std::string id;
  timestamp date;
  std::string_view type;
  std::optional<std::string> otid{};
  std::optional<step_id> step{};
  std::optional<run_id> run{};
  std::optional<std::int64_t> seq_id{};
  std::optional<std::string> name{};
};
void write_head(json::object_writer& w, const message_head& h);

void project(std::vector<api_message>& out, const message& m, const options& o);

// A list, in its order. Where calls of the assistant's message tool become assistant messages, the tool messages that
// answer them are left out.
std::vector<api_message> project_list(const std::vector<stored_message>& messages, const options& o);

// [..] of those whose type is wanted; no list of types means all.
std::string to_array(const std::vector<api_message>& messages,
                     const std::optional<std::vector<message_type>>& types);

} // namespace troupe::project
