// Which protocol a model is spoken to in, and what it takes to speak it. The network part asks here and knows no
// protocol itself.
#pragma once

#include "core/protocol/reply_decoder.hpp"

namespace troupe::protocol {

enum class kind { chat_completions, responses, messages };

// A model that one OpenAI-compatible endpoint serves for another vendor says so by this value of model_wrapper.
inline constexpr std::string_view compatible_wrapper = "chat_completions";

// Anthropic's models speak Messages; OpenAI's reasoning models, at OpenAI itself, Responses; everything else Chat
// Completions.
kind kind_of(const llm_config& c);

// Where the calls go, below the base URL.
std::string_view path(kind k);
// Headers that the protocol wants, without those of the key.
std::vector<std::string> headers(const llm_config& c, bool stream);
// How the key is sent.
std::string key_header(kind k, std::string_view key);
// Whom an error names.
std::string_view vendor(kind k);

std::string request_body(const model_request& r);
result<model_reply> parse_reply(kind k, std::string_view body);
error error_for(kind k, int status, std::string_view body);
std::unique_ptr<reply_decoder> make_decoder(const llm_config& c);

} // namespace troupe::protocol
