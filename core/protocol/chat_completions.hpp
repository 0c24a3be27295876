// The API that OpenAI's clients speak, from the server's side: requests to an agent, and what a turn gave as chat
// completions (reference: agent-loop §4.3; recording chat-completions-basic).
#pragma once

#include "core/schema/message_request.hpp"

namespace troupe::chat_completions {

struct request {
  std::string model; // an agent's id
  std::vector<json::object> messages;
  bool stream = false;
  bool include_usage = false; // of a stream: a last chunk with the tokens

  static bool read_json(json::reader& r, const json::value& v, request& out);
};
BOOST_DESCRIBE_STRUCT(request, (), (model, messages, stream, include_usage))

// The last message of the user: the agent remembers the others itself. Errors: invalid_argument, where there is none.
result<message_create> last_user_message(const request& q);

// What every completion says of itself.
struct heading {
  std::string id;    // chatcmpl-run-...
  std::string model; // of the agent
  timestamp created;
};

// The events of a turn's stream (JSON texts, or [DONE]) -> the data of OpenAI's events.
class chunk_writer {
public:
  chunk_writer(std::string model, timestamp created, bool include_usage)
      : head_{{}, std::move(model), created}, include_usage_(include_usage) {}
  void next(std::string_view event, std::vector<std::string>& out);
  // The turn's stream has ended: what is missing of the answer.
  void finish(std::vector<std::string>& out);

private:
  std::string chunk(const json::value& content, bool first, std::optional<std::string_view> reason) const;
  void say(std::string_view message, const json::value& content, std::vector<std::string>& out);

  heading head_;
  bool include_usage_;
  bool began_ = false, ended_ = false, failed_ = false;
  std::string reason_;               // why the turn stopped
  std::optional<json::value> usage_; // where it is to be shown
  std::string speaking_;             // id of the message that the last piece was of
};

// The whole completion of a blocking turn's answer.
std::string completion(const json::value& answer, heading head);

} // namespace troupe::chat_completions
