// Anthropic's Messages protocol: requests, replies, streams, errors.
#pragma once

#include "core/protocol/reply_decoder.hpp"

#include <map>

namespace troupe::anthropic {

inline constexpr std::string_view version = "2023-06-01";

// -- what a model can do, by its name -------------------------------------------------------------
// Thinks in blocks of its own (3.7 and later; the small ones from 4.5 on).
bool can_think(std::string_view model);
// Decides by itself how long to think; takes no budget (4.6 and later).
bool thinks_adaptively(std::string_view model);
// Takes a level of effort (Opus 4.5, everything from 4.6 on).
bool takes_effort(std::string_view model);
// Whether a request with this configuration turns thinking on.
bool thinks(const llm_config& c);
// Whether it has to ask for its earlier thoughts to be kept (Opus 4.5).
bool keeps_thoughts(const llm_config& c);

// The value of the header anthropic-beta: names joined by commas, or nothing.
std::string betas(const llm_config& c, bool stream);

// The body of POST {base}/messages.
std::string request_body(const model_request& r);

// A complete reply: every block in its order, each with its own signature.
result<model_reply> parse_reply(std::string_view body);

// The error for a status that is not 200, worded as the API's clients know it (reference: agent-loop §12).
error error_for(int status, std::string_view body);

class stream_decoder final : public reply_decoder {
public:
  result<void> feed(std::string_view data, std::vector<project::delta>& out) override;
  result<model_reply> finish() override;

private:
  // Where the block of an index has its place in the reply.
  struct place {
    bool is_call = false;
    std::size_t at = 0;
  };
  void start(const json::value& event, std::vector<project::delta>& out);
  void delta(const json::value& event, std::vector<project::delta>& out);
  void say(place p, std::string_view piece, std::vector<project::delta>& out);
  void think(place p, std::string_view piece, std::vector<project::delta>& out);
  void sign(place p, std::string_view signature);
  void argue(place p, std::string_view piece, std::vector<project::delta>& out);
  void count(const json::value& usage);

  bool any_ = false;
  bool stopped_ = false;
  std::map<std::int64_t, place> blocks_;
  std::optional<std::string> signature_;               // the last that was sent
  std::map<std::size_t, std::string> given_arguments_; // came with the start of a call
  std::int64_t uncached_ = 0;
  model_reply reply_;
};

} // namespace troupe::anthropic
