// Replies and streams of OpenAI's Responses protocol.
#include "core/protocol/openai_responses.hpp"

#include "core/json/writer.hpp"
#include "core/protocol/openai_chat.hpp"
#include "core/protocol/provider_errors.hpp"

namespace troupe::openai_responses {

namespace {

error broken(const std::string& what) { return provider_errors::server_error("OpenAI", what); }

token_usage usage_of(const json::value& v) {
  auto detail = [&](const char* group, const char* name) -> std::optional<std::int64_t> {
    auto* g = json::find(v, group);
    auto* n = g ? json::find(*g, name) : nullptr;
    if (!n || !n->is_number()) return std::nullopt;
    return n->to_number<std::int64_t>();
  };
  token_usage u;
  u.prompt = json::int_or(v, "input_tokens", 0);
  u.completion = json::int_or(v, "output_tokens", 0);
  u.total = json::int_or(v, "total_tokens", u.prompt + u.completion);
  u.cached_input = detail("input_tokens_details", "cached_tokens");
  u.reasoning = detail("output_tokens_details", "reasoning_tokens");
  return u;
}

const json::array& list_of(const json::value& v, std::string_view key) {
  static const json::array none;
  auto* list = json::find(v, key);
  return list && list->is_array() ? list->get_array() : none;
}

content_part thought_of(const json::value& item) {
  summarized_reasoning_content r;
  r.id = std::string(json::string_or(item, "id"));
  for (auto& part : list_of(item, "summary"))
    r.summary.push_back(
        {static_cast<std::int64_t>(r.summary.size()), std::string(json::string_or(part, "text"))});
  if (auto sealed = json::string_or(item, "encrypted_content"); !sealed.empty())
    r.encrypted_content = std::string(sealed);
  return r;
}

void add_item(model_reply& reply, const json::value& item) {
  auto type = json::string_or(item, "type");
  if (type == "reasoning") reply.content.push_back(thought_of(item));
  if (type == "message") {
    std::string said;
    for (auto& part : list_of(item, "content"))
      said += json::string_or(part, json::string_or(part, "type") == "refusal" ? "refusal" : "text");
    if (!said.empty()) reply.content.emplace_back(text_content{std::move(said), std::nullopt});
  }
  if (type == "function_call") {
    std::string arguments(json::string_or(item, "arguments"));
    reply.calls.push_back({std::string(json::string_or(item, "call_id")),
                           std::string(json::string_or(item, "name")),
                           arguments.empty() ? "{}" : std::move(arguments)});
  }
}

std::optional<std::string> finish_reason_of(const json::value& response, bool calls) {
  if (auto* why = json::find(response, "incomplete_details"); why && why->is_object()) {
    auto reason = json::string_or(*why, "reason");
    return reason == "max_output_tokens" ? "length" : std::string(reason);
  }
  if (json::string_or(response, "status") != "completed") return std::nullopt;
  return calls ? "tool_calls" : "stop";
}

// An error that comes inside an answer has a code instead of a status.
error named_error(std::string_view code, const std::string& text) {
  auto make = [&](errc c, const char* error_class, const char* what) {
    return llm_failure(c, error_class, what + text);
  };
  if (code == "rate_limit_exceeded") return provider_errors::rate_limited("OpenAI", text);
  if (code == "insufficient_quota") return provider_errors::no_credits(text);
  if (code == "context_length_exceeded" || openai_chat::says_context_too_long(text))
    return make(errc::llm_context_window, "ContextWindowExceededError",
                "CONTEXT_WINDOW_EXCEEDED: OpenAI request exceeded the context window: ");
  if (code.starts_with("invalid_") || code.starts_with("image_") || code.starts_with("unsupported_"))
    return make(errc::llm_bad_request, "LLMBadRequestError", "INVALID_ARGUMENT: OpenAI API error: ");
  return broken(text);
}

// Of an error object, {code, message}.
error error_of(const json::value& e) {
  return named_error(json::string_or(e, "code"), std::string(json::string_or(e, "message", "unknown")));
}

// `items`: what a stream has brought, for servers whose last event leaves the output out.
result<model_reply> reply_of(const json::value& response, const std::map<std::int64_t, json::value>& items) {
  if (json::string_or(response, "status") == "failed") {
    auto* e = json::find(response, "error");
    return e && e->is_object() ? error_of(*e) : broken("the response failed");
  }
  model_reply reply;
  auto& output = list_of(response, "output");
  for (auto& item : output) add_item(reply, item);
  if (output.empty())
    for (auto& [index, item] : items) add_item(reply, item);
  reply.finish_reason = finish_reason_of(response, !reply.calls.empty());
  if (auto* usage = json::find(response, "usage"); usage && usage->is_object())
    reply.usage = usage_of(*usage);
  return reply;
}

} // namespace

result<model_reply> parse_reply(std::string_view body) {
  auto v = json::try_parse(body);
  auto* output = v ? json::find(*v, "output") : nullptr;
  if (!output || !output->is_array()) return broken("the reply is no response");
  auto reply = reply_of(*v, {});
  if (reply) reply->raw = body;
  return reply;
}

// -- streams ----------------------------------------------------------------------------------------
namespace {

using kind = project::delta::kind;

project::delta thought(std::string text) { return {kind::reasoning, std::move(text), {}, {}, {}, {}}; }

} // namespace

void stream_decoder::item_added(const json::value& event, std::vector<project::delta>& out) {
  auto* item = json::find(event, "item");
  if (!item || json::string_or(*item, "type") != "function_call") return;
  std::string id(json::string_or(*item, "call_id"));
  calls_[json::int_or(event, "output_index", 0)] = id;
  out.push_back({kind::tool_call,
                 std::string(json::string_or(*item, "arguments")),
                 id,
                 std::string(json::string_or(*item, "name")),
                 {},
                 {}});
}

// The parts of a summary stand apart as they will in the stored message: by a blank line.
void stream_decoder::summary_added(const json::value& event, std::vector<project::delta>& out) {
  if (json::int_or(event, "summary_index", 0) > 0 && summed_up_) out.push_back(thought("\n\n"));
}

void stream_decoder::arguments(const json::value& event, std::vector<project::delta>& out) {
  auto it = calls_.find(json::int_or(event, "output_index", 0));
  auto piece = json::string_or(event, "delta");
  if (it != calls_.end() && !piece.empty())
    out.push_back({kind::tool_call, std::string(piece), it->second, {}, {}, {}});
}

result<void> stream_decoder::end(const json::value& event) {
  auto* response = json::find(event, "response");
  if (!response) return broken("an event without its response");
  auto reply = reply_of(*response, items_);
  if (!reply) return reply.error();
  reply_ = std::move(*reply);
  return {};
}

result<void> stream_decoder::feed(std::string_view data, std::vector<project::delta>& out) {
  if (data == "[DONE]") return {};
  auto v = json::try_parse(data);
  if (!v || !v->is_object()) return broken("an event of the stream is not JSON");
  any_ = true;
  auto type = json::string_or(*v, "type");
  if (type == "response.output_item.added") {
    item_added(*v, out);
  } else if (type == "response.output_item.done") {
    if (auto* item = json::find(*v, "item")) items_[json::int_or(*v, "output_index", 0)] = *item;
  } else if (type == "response.reasoning_summary_part.added") {
    summary_added(*v, out);
  } else if (type == "response.reasoning_summary_text.delta") {
    summed_up_ = true;
    if (auto piece = json::string_or(*v, "delta"); !piece.empty()) out.push_back(thought(std::string(piece)));
  } else if (type == "response.output_text.delta" || type == "response.refusal.delta") {
    if (auto piece = json::string_or(*v, "delta"); !piece.empty())
      out.push_back({kind::text, std::string(piece), {}, {}, {}, {}});
  } else if (type == "response.function_call_arguments.delta") {
    arguments(*v, out);
  } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
    return end(*v);
  } else if (auto* e = json::find(*v, "error"); type == "error" || e) {
    return error_of(e && e->is_object() ? *e : *v);
  }
  return {};
}

result<model_reply> stream_decoder::finish() {
  if (reply_) return std::move(*reply_);
  return provider_errors::broken_stream("OpenAI", any_);
}

} // namespace troupe::openai_responses
