// OpenAI's Responses protocol, for models that reason: requests, replies, streams. Nothing is kept at the provider;
// thoughts come back encrypted and are sent along again. Its errors are those of Chat Completions.
#pragma once

#include "core/protocol/reply_decoder.hpp"

#include <map>

namespace troupe::openai_responses {

// The body of POST {base}/responses.
std::string request_body(const model_request& r);

// A complete reply.
result<model_reply> parse_reply(std::string_view body);

class stream_decoder final : public reply_decoder {
public:
  result<void> feed(std::string_view data, std::vector<project::delta>& out) override;
  result<model_reply> finish() override;

private:
  void item_added(const json::value& event, std::vector<project::delta>& out);
  void summary_added(const json::value& event, std::vector<project::delta>& out);
  void arguments(const json::value& event, std::vector<project::delta>& out);
  result<void> end(const json::value& event);

  bool any_ = false;
  bool summed_up_ = false;                    // a thought has been shown
  std::map<std::int64_t, std::string> calls_; // output index -> id of the call
  std::map<std::int64_t, json::value> items_; // output index -> item that is done
  std::optional<model_reply> reply_;
};

} // namespace troupe::openai_responses
