#include "core/protocol/protocol.hpp"

#include "core/protocol/anthropic.hpp"
#include "core/protocol/openai_chat.hpp"
#include "core/protocol/openai_responses.hpp"

namespace troupe::protocol {

kind kind_of(const llm_config& c) {
  if (c.model_wrapper == compatible_wrapper) return kind::chat_completions;
  if (c.model_endpoint_type == "anthropic") return kind::messages;
  bool openai_itself = c.model_endpoint_type == "openai" && c.model_endpoint &&
                       c.model_endpoint->find("api.openai.com") != std::string::npos;
  return openai_itself && openai_chat::is_reasoning_model(c.model) ? kind::responses : kind::chat_completions;
}

std::string_view path(kind k) {
  switch (k) {
  case kind::messages: return "/messages";
  case kind::responses: return "/responses";
  case kind::chat_completions: break;
  }
  return "/chat/completions";
}

std::vector<std::string> headers(const llm_config& c, bool stream) {
  if (kind_of(c) != kind::messages) return {};
  std::vector<std::string> out{"anthropic-version: " + std::string(anthropic::version)};
  if (auto betas = anthropic::betas(c, stream); !betas.empty()) out.push_back("anthropic-beta: " + betas);
  return out;
}

std::string key_header(kind k, std::string_view key) {
  return (k == kind::messages ? "x-api-key: " : "Authorization: Bearer ") + std::string(key);
}

std::string_view vendor(kind k) { return k == kind::messages ? "Anthropic" : "OpenAI"; }

std::string request_body(const model_request& r) {
  switch (kind_of(r.config)) {
  case kind::messages: return anthropic::request_body(r);
  case kind::responses: return openai_responses::request_body(r);
  case kind::chat_completions: break;
  }
  return openai_chat::request_body(r);
}

result<model_reply> parse_reply(kind k, std::string_view body) {
  switch (k) {
  case kind::messages: return anthropic::parse_reply(body);
  case kind::responses: return openai_responses::parse_reply(body);
  case kind::chat_completions: break;
  }
  return openai_chat::parse_reply(body);
}

error error_for(kind k, int status, std::string_view body) {
  return k == kind::messages ? anthropic::error_for(status, body) : openai_chat::error_for(status, body);
}

std::unique_ptr<reply_decoder> make_decoder(const llm_config& c) {
  switch (kind_of(c)) {
  case kind::messages: return std::make_unique<anthropic::stream_decoder>();
  case kind::responses: return std::make_unique<openai_responses::stream_decoder>();
  case kind::chat_completions: break;
  }
  bool silent = c.model_endpoint_type == "openai" && openai_chat::is_reasoning_model(c.model);
  return std::make_unique<openai_chat::stream_decoder>(silent);
}

} // namespace troupe::protocol
