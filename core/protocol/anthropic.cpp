// Replies, streams and errors of Anthropic's Messages protocol.
#include "core/protocol/anthropic.hpp"

#include "core/json/writer.hpp"
#include "core/protocol/provider_errors.hpp"

namespace troupe::anthropic {

namespace {

constexpr std::string_view provider = "Anthropic";

error broken(const std::string& what) { return provider_errors::server_error(provider, what); }

// In the words that other protocols use.
std::optional<std::string> finish_reason_of(std::string_view stop_reason) {
  if (stop_reason.empty()) return std::nullopt;
  if (stop_reason == "max_tokens" || stop_reason == "model_context_window_exceeded") return "length";
  if (stop_reason == "tool_use") return "tool_calls";
  if (stop_reason == "refusal") return "content_filter";
  return "stop";
}

std::optional<std::int64_t> number(const json::value& v, std::string_view key) {
  auto* n = json::find(v, key);
  if (!n || !n->is_number()) return std::nullopt;
  return n->to_number<std::int64_t>();
}

// The whole input is what was not cached, what was read from the cache and what was written to it.
token_usage usage_of(std::int64_t uncached, const std::optional<std::int64_t>& read,
                     const std::optional<std::int64_t>& written, std::int64_t output) {
  token_usage u;
  u.prompt = uncached + read.value_or(0) + written.value_or(0);
  u.completion = output;
  u.total = u.prompt + u.completion;
  u.cached_input = read;
  u.cache_write = written;
  return u;
}

void add_block(model_reply& reply, const json::value& block) {
  auto type = json::string_or(block, "type");
  auto text = [&](std::string_view key) { return std::string(json::string_or(block, key)); };
  if (type == "text" && !text("text").empty())
    reply.content.emplace_back(text_content{text("text"), std::nullopt});
  if (type == "thinking") {
    reasoning_content r{true, text("thinking"), std::nullopt};
    if (auto signature = text("signature"); !signature.empty()) r.signature = signature;
    reply.content.emplace_back(std::move(r));
  }
  if (type == "redacted_thinking") reply.content.emplace_back(redacted_reasoning_content{text("data")});
  if (type == "tool_use") {
    auto* input = json::find(block, "input");
    reply.calls.push_back(
        {text("id"), text("name"), input && input->is_object() ? json::print(*input) : std::string("{}")});
  }
}

} // namespace

result<model_reply> parse_reply(std::string_view body) {
  auto v = json::try_parse(body);
  auto* content = v ? json::find(*v, "content") : nullptr;
  if (!content || !content->is_array()) return broken("the reply is no message");
  model_reply reply;
  for (auto& block : content->get_array()) add_block(reply, block);
  reply.finish_reason = finish_reason_of(json::string_or(*v, "stop_reason"));
  if (auto* usage = json::find(*v, "usage"); usage && usage->is_object())
    reply.usage =
        usage_of(json::int_or(*usage, "input_tokens", 0), number(*usage, "cache_read_input_tokens"),
                 number(*usage, "cache_creation_input_tokens"), json::int_or(*usage, "output_tokens", 0));
  reply.raw = body;
  return reply;
}

// -- errors -----------------------------------------------------------------------------------------
namespace {

using provider_errors::no_credits;
using provider_errors::says_any;

bool says_too_long(std::string_view body) {
  return says_any(body, {"prompt is too long", "exceed context limit", "exceeds context",
                         "context window exceeds limit", "total text bytes", "request_too_large",
                         "request exceeds the maximum size"});
}

bool says_no_credits(std::string_view body) {
  return says_any(body, {"insufficient credits", "requires more credits", "add more credits",
                         "exceeded your current quota", "exceeded your budget", "can only afford"});
}

error internal(errc code, std::string_view error_class, std::string_view what, const std::string& detail) {
  return llm_failure(code, error_class, "INTERNAL_SERVER_ERROR: " + std::string(what) + ": " + detail);
}

error overloaded(const std::string& detail) {
  return internal(errc::llm_overloaded, "LLMProviderOverloaded", "Anthropic API is overloaded", detail);
}

error too_long(const std::string& detail) {
  return llm_failure(errc::llm_context_window, "ContextWindowExceededError",
                     "CONTEXT_WINDOW_EXCEEDED: Context window exceeded for Anthropic: " + detail);
}

error server_error(std::string_view body, const std::string& detail) {
  if (says_any(body, {"overflow", "upstream connect error"}))
    return internal(errc::llm_error, "LLMServerError",
                    "Anthropic upstream infrastructure error (transient, may resolve on retry)", detail);
  if (says_any(body, {"overloaded"})) return overloaded(detail);
  return internal(errc::llm_error, "LLMServerError", "Anthropic internal server error", detail);
}

// An error in the middle of a stream has no status of its own.
error stream_error(const json::value& event) {
  auto detail = json::python_repr(event);
  auto* inner = json::find(event, "error");
  auto type = inner ? json::string_or(*inner, "type") : std::string_view{};
  if (says_too_long(detail)) return too_long(detail);
  if (type == "overloaded_error" || says_any(detail, {"overloaded"})) return overloaded(detail);
  if (type == "rate_limit_error") return provider_errors::rate_limited(provider, detail);
  if (says_no_credits(detail)) return no_credits(detail);
  return broken(detail);
}

} // namespace

error error_for(int status, std::string_view body) {
  auto detail = provider_errors::detail_of(status, body);
  if (status == 413 || says_too_long(body)) return too_long(detail);
  switch (status) {
  case 400: return internal(errc::llm_bad_request, "LLMBadRequestError", "Bad request to Anthropic", detail);
  case 401:
    return internal(errc::llm_authentication, "LLMAuthenticationError",
                    "Authentication failed with Anthropic", detail);
  case 402: return no_credits(detail);
  case 403:
    return internal(errc::llm_error, "LLMPermissionDeniedError", "Permission denied by Anthropic", detail);
  case 404: return internal(errc::llm_error, "LLMNotFoundError", "Resource not found in Anthropic", detail);
  case 408:
    return llm_failure(errc::llm_timeout, "LLMTimeoutError",
                       "TIMEOUT: Request to Anthropic timed out: " + detail);
  case 422:
    return internal(errc::llm_error, "LLMUnprocessableEntityError", "Invalid request content for Anthropic",
                    detail);
  case 429: return provider_errors::rate_limited(provider, detail);
  default: break;
  }
  if (status >= 500) return server_error(body, detail);
  return says_no_credits(body) ? no_credits(detail) : broken(detail);
}

// -- streams ----------------------------------------------------------------------------------------
namespace {

using kind = project::delta::kind;
constexpr std::size_t max_blocks =
    1024; // no model sends that many; a hostile stream must not fill the memory

} // namespace

void stream_decoder::start(const json::value& event, std::vector<project::delta>& out) {
  auto* block = json::find(event, "content_block");
  if (!block || blocks_.size() >= max_blocks) return;
  auto index = json::int_or(event, "index", 0);
  auto type = json::string_or(*block, "type");
  auto here = [&](bool is_call) {
    return blocks_[index] = place{is_call, is_call ? reply_.calls.size() : reply_.content.size()};
  };
  if (type == "text") {
    auto p = here(false);
    reply_.content.emplace_back(text_content{});
    say(p, json::string_or(*block, "text"), out);
  } else if (type == "thinking") {
    auto p = here(false);
    reply_.content.emplace_back(reasoning_content{true, {}, std::nullopt});
    think(p, json::string_or(*block, "thinking"), out);
    sign(p, json::string_or(*block, "signature"));
  } else if (type == "redacted_thinking") {
    here(false);
    std::string data(json::string_or(*block, "data"));
    reply_.content.emplace_back(redacted_reasoning_content{data});
    out.push_back({kind::hidden_reasoning, {}, {}, {}, {}, std::move(data)});
  } else if (type == "tool_use") {
    auto p = here(true);
    std::string id(json::string_or(*block, "id")), name(json::string_or(*block, "name"));
    out.push_back({kind::tool_call, {}, id, name, {}, {}});
    reply_.calls.push_back({std::move(id), std::move(name), {}});
    auto* input = json::find(*block, "input");
    if (input && input->is_object() && !input->get_object().empty())
      given_arguments_[p.at] = json::print(*input);
  }
}

void stream_decoder::say(place p, std::string_view piece, std::vector<project::delta>& out) {
  auto* text = p.is_call ? nullptr : std::get_if<text_content>(&reply_.content[p.at]);
  if (!text || piece.empty()) return;
  text->text += piece;
  out.push_back({kind::text, std::string(piece), {}, {}, {}, {}});
}

// The signature of a thought comes after it: a piece carries that of the thought before.
void stream_decoder::think(place p, std::string_view piece, std::vector<project::delta>& out) {
  auto* thought = p.is_call ? nullptr : std::get_if<reasoning_content>(&reply_.content[p.at]);
  if (!thought || piece.empty()) return;
  thought->reasoning += piece;
  out.push_back({kind::reasoning, std::string(piece), {}, {}, signature_, {}});
}

void stream_decoder::sign(place p, std::string_view signature) {
  auto* thought = p.is_call ? nullptr : std::get_if<reasoning_content>(&reply_.content[p.at]);
  if (!thought || signature.empty()) return;
  thought->signature = signature_ = std::string(signature);
}

void stream_decoder::argue(place p, std::string_view piece, std::vector<project::delta>& out) {
  if (!p.is_call || piece.empty()) return;
  auto& call = reply_.calls[p.at];
  call.arguments += piece;
  out.push_back({kind::tool_call, std::string(piece), call.id, call.name, {}, {}}); // named in every piece
}

void stream_decoder::delta(const json::value& event, std::vector<project::delta>& out) {
  auto it = blocks_.find(json::int_or(event, "index", 0));
  auto* d = json::find(event, "delta");
  if (it == blocks_.end() || !d) return;
  auto type = json::string_or(*d, "type");
  if (type == "text_delta") say(it->second, json::string_or(*d, "text"), out);
  if (type == "thinking_delta") think(it->second, json::string_or(*d, "thinking"), out);
  if (type == "signature_delta") sign(it->second, json::string_or(*d, "signature"));
  if (type == "input_json_delta") argue(it->second, json::string_or(*d, "partial_json"), out);
}

// Counters are sums so far. In a stream nothing cached counts as nothing reported (reference: agent-loop §4.4).
void stream_decoder::count(const json::value& usage) {
  uncached_ = json::int_or(usage, "input_tokens", uncached_);
  auto cached = [&](std::string_view key, const std::optional<std::int64_t>& before) {
    auto n = number(usage, key);
    return n && *n > 0 ? n : before;
  };
  auto& u = reply_.usage;
  u = usage_of(uncached_, cached("cache_read_input_tokens", u.cached_input),
               cached("cache_creation_input_tokens", u.cache_write),
               json::int_or(usage, "output_tokens", u.completion));
}

result<void> stream_decoder::feed(std::string_view data, std::vector<project::delta>& out) {
  auto v = json::try_parse(data);
  if (!v || !v->is_object()) return broken("an event of the stream is not JSON");
  any_ = true;
  auto type = json::string_or(*v, "type");
  if (type == "error") return stream_error(*v);
  if (type == "message_start") {
    auto* m = json::find(*v, "message");
    if (auto* usage = m ? json::find(*m, "usage") : nullptr) count(*usage);
  } else if (type == "content_block_start") {
    start(*v, out);
  } else if (type == "content_block_delta") {
    delta(*v, out);
  } else if (type == "message_delta") {
    if (auto* d = json::find(*v, "delta"))
      if (auto reason = finish_reason_of(json::string_or(*d, "stop_reason"))) reply_.finish_reason = reason;
    if (auto* usage = json::find(*v, "usage"); usage && usage->is_object()) count(*usage);
  } else if (type == "message_stop") {
    stopped_ = true;
  }
  return {}; // ping, content_block_stop, and whatever comes to be
}

result<model_reply> stream_decoder::finish() {
  if (!stopped_ && !reply_.finish_reason) return provider_errors::broken_stream(provider, any_);
  for (std::size_t i = 0; i < reply_.calls.size(); ++i)
    if (auto& arguments = reply_.calls[i].arguments; arguments.empty())
      arguments = given_arguments_.contains(i) ? given_arguments_[i] : "{}";
  std::erase_if(reply_.content, [](auto& p) {
    auto* text = std::get_if<text_content>(&p);
    return text && text->text.empty();
  });
  return std::move(reply_);
}

} // namespace troupe::anthropic
