#include "core/rehearsal/reply.hpp"

#include "core/protocol/openai_chat.hpp"

namespace troupe::rehearsal {

model_reply reply_of(const performance& p, std::size_t request_bytes) {
  using kind = action::kind;
  model_reply r;
  std::size_t said = 0;
  for (auto& a : p.actions) {
    said += a.text.size() + a.arguments.size();
    if (a.what == kind::text) r.content.emplace_back(text_content{a.text, std::nullopt});
    if (a.what == kind::reasoning) r.content.emplace_back(reasoning_content{true, a.text, std::nullopt});
    if (a.what == kind::call) r.calls.push_back({a.call_id, a.call_name, a.arguments});
  }
  r.finish_reason = p.finish_reason ? *p.finish_reason : r.calls.empty() ? "stop" : "tool_calls";
  r.usage.prompt = static_cast<std::int64_t>((request_bytes + 3) / 4);
  r.usage.completion = static_cast<std::int64_t>((said + 3) / 4);
  if (p.usage) {
    r.usage.prompt = json::int_or(*p.usage, "prompt_tokens", r.usage.prompt);
    r.usage.completion = json::int_or(*p.usage, "completion_tokens", r.usage.completion);
    if (auto n = json::int_or(*p.usage, "cached_tokens", -1); n >= 0) r.usage.cached_input = n;
    if (auto n = json::int_or(*p.usage, "reasoning_tokens", -1); n >= 0) r.usage.reasoning = n;
  }
  r.usage.total = r.usage.prompt + r.usage.completion;
  return r;
}

error failure_of(const action& a) {
  json::object inner;
  inner["message"] = boost::json::string(a.text);
  inner["type"] = "rehearsal";
  inner["code"] = a.status;
  json::object body;
  body["error"] = std::move(inner);
  return openai_chat::error_for(a.status, json::print(json::value(std::move(body))));
}

} // namespace troupe::rehearsal
