// OpenAI's Chat Completions protocol: requests, replies, streams, errors. Spoken by OpenAI and by most servers that
// call themselves compatible.
#pragma once

#include "core/protocol/reply_decoder.hpp"

namespace troupe::openai_chat {

// The body of POST {base}/chat/completions.
std::string request_body(const model_request& r);

// A complete reply. A body that is none is an error of the provider.
result<model_reply> parse_reply(std::string_view body);

// The error for a status that is not 200, worded as the API's clients know it (reference: agent-loop §12).
error error_for(int status, std::string_view body);
// Of an error object in the middle of a stream, {message}.
error stream_error(const json::value& e);
// What servers say where a context is too long for their model.
bool says_context_too_long(std::string_view body);

class stream_decoder final : public reply_decoder {
public:
  // `reasons_silently`: the model thinks without showing it, which the API tells its clients before the first piece.
  explicit stream_decoder(bool reasons_silently) : silent_(reasons_silently) {}

  result<void> feed(std::string_view data, std::vector<project::delta>& out) override;
  result<model_reply> finish() override;

private:
  void text(std::string_view piece, std::vector<project::delta>& out);
  void reasoning(std::string_view piece, std::vector<project::delta>& out);
  void call(const json::value& piece, std::vector<project::delta>& out);
  void announce(std::vector<project::delta>& out);

  bool silent_;
  bool announced_ = false;
  bool done_ = false;
  bool any_ = false;
  model_reply reply_;
};

// True for models of OpenAI that reason without showing it (o1, o3, o4, gpt-5, ...).
bool is_reasoning_model(std::string_view model);

} // namespace troupe::openai_chat
