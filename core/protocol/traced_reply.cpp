#include "core/protocol/traced_reply.hpp"

#include "core/json/writer.hpp"

namespace troupe::protocol {

namespace {

void fill(json::object& o, std::initializer_list<const char*> names) {
  for (auto* name : names)
    if (!o.contains(name)) o[name] = nullptr;
}

void complete(json::object& reply) {
  fill(reply, {"service_tier", "system_fingerprint"});
  if (auto* usage = reply.if_contains("usage"); usage && usage->is_object())
    fill(usage->get_object(), {"completion_tokens_details", "prompt_tokens_details"});
  auto* choices = reply.if_contains("choices");
  if (!choices || !choices->is_array()) return;
  for (auto& item : choices->get_array()) {
    auto* choice = item.if_object();
    if (!choice) continue;
    fill(*choice, {"logprobs"});
    if (auto* m = choice->if_contains("message"); m && m->is_object())
      fill(m->get_object(), {"content", "refusal", "annotations", "audio", "function_call", "tool_calls"});
  }
}

json::value text(std::string_view s) { return boost::json::string(s); }

json::object message_of(const model_reply& reply) {
  std::string said, thought;
  for (auto& part : reply.content) {
    if (auto* t = std::get_if<text_content>(&part)) said += t->text;
    if (auto* r = std::get_if<reasoning_content>(&part)) thought += r->reasoning;
  }
  json::array calls;
  for (auto& c : reply.calls) {
    json::object function{{"name", text(c.name)}, {"arguments", text(c.arguments)}};
    calls.push_back(
        json::object{{"id", text(c.id)}, {"type", "function"}, {"function", std::move(function)}});
  }
  json::object m{{"role", "assistant"}, {"content", said.empty() ? json::value() : text(said)}};
  if (!thought.empty()) m["reasoning_content"] = text(thought);
  if (!calls.empty()) m["tool_calls"] = std::move(calls);
  return m;
}

json::object put_together(const model_reply& reply, const std::string& model) {
  json::object choice{{"index", 0}, {"message", message_of(reply)}};
  choice["finish_reason"] = reply.finish_reason ? text(*reply.finish_reason) : json::value();
  json::object usage{{"prompt_tokens", reply.usage.prompt},
                     {"completion_tokens", reply.usage.completion},
                     {"total_tokens", reply.usage.total}};
  json::object out{{"object", "chat.completion"}, {"model", text(model)}};
  out["choices"] = json::array{std::move(choice)};
  out["usage"] = std::move(usage);
  return out;
}

json::object failure(const error& why) {
  json::object inner{{"message", text(why.message)}, {"type", text(llm_error_class(why))}};
  return json::object{{"error", std::move(inner)}};
}

} // namespace

std::string traced_reply(const result<model_reply>& reply, const std::string& model) {
  if (!reply) return json::to_text(failure(reply.error()));
  return reply->raw.empty() ? json::to_text(put_together(*reply, model)) : reply->raw;
}

std::string shown_reply(std::string_view traced) {
  auto reply = json::try_parse(traced);
  if (!reply) return "null";
  if (reply->is_object() && reply->get_object().contains("choices")) complete(reply->get_object());
  return json::print(*reply);
}

} // namespace troupe::protocol
