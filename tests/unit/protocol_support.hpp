// What the suites of the model protocols share: requests to build, replies and streams to show as text.
#pragma once

#include "core/protocol/reply_decoder.hpp"
#include "core/protocol/sse.hpp"
#include "tests/unit/support.hpp"

#include <functional>

namespace troupe::test {

// A conversation with a model, message by message.
struct conversation {
  model_request r;
  std::uint64_t n = 0;

  explicit conversation(std::string endpoint_type, std::string model) {
    r.config.model_endpoint_type = std::move(endpoint_type);
    r.config.model = std::move(model);
    r.config.context_window = 8000;
    r.config.temperature = 1.0;
    r.config.max_tokens = 4096;
    r.user = "user-1";
    add(message_role::system, "be good");
  }
  message& add(message_role role, std::string_view text = {}) {
    auto m = std::make_shared<message>(make_message(role, text));
    m->id = nth<message_id>(++n);
    m->model = r.config.model;
    r.messages.push_back(m);
    return *m;
  }
  conversation& user(std::string_view text) { return add(message_role::user, text), *this; }
  conversation& assistant(std::string_view text) { return add(message_role::assistant, text), *this; }
  message& reply(std::vector<content_part> content, std::vector<tool_call> calls = {}) {
    auto& m = add(message_role::assistant);
    m.content = std::move(content);
    m.tool_calls = std::move(calls);
    m.step = nth<step_id>(1);
    return m;
  }
  void answer(std::string call, std::string packed) {
    add(message_role::tool).tool_returns = {
        {std::move(call), return_status::success, std::nullopt, std::nullopt, std::move(packed)}};
  }
  void offer(std::string name, std::string_view parameters = R"({"type":"object","properties":{}})") {
    r.tools.push_back({std::move(name), "about", object(parameters)});
  }
};

// A member of a JSON text, or - where there is none.
inline std::string member_of(std::string_view body, std::string_view name) {
  auto v = parsed(body);
  auto* m = json::find(v, name);
  return m ? json::print(*m) : "-";
}

inline std::string show(const model_reply& r) {
  std::string out;
  for (auto& p : r.content) write_content_part(out, p);
  for (auto& c : r.calls) out += " " + c.id + " " + c.name + " " + c.arguments;
  auto optional = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "-"; };
  out += " " + r.finish_reason.value_or("-") + " " + std::to_string(r.usage.prompt) + "/" +
         std::to_string(r.usage.completion) + "/" + std::to_string(r.usage.total);
  return out + " cache " + optional(r.usage.cached_input) + "/" + optional(r.usage.cache_write) +
         " reasoning " + optional(r.usage.reasoning);
}

inline std::string show(const project::delta& d) {
  using kind = project::delta::kind;
  switch (d.what) {
  case kind::text: return "text(" + d.text + ") ";
  case kind::reasoning: return "think(" + d.text + (d.signature ? "," + *d.signature : "") + ") ";
  case kind::hidden_reasoning: return "hidden(" + d.redacted + ") ";
  case kind::thoughts: return "thoughts(" + d.text + ") ";
  case kind::tool_call: return "call(" + d.call_id + "," + d.call_name + "," + d.text + ") ";
  }
  return {};
}

inline std::string show(const error& e) { return std::string(llm_error_class(e)) + " " + e.message; }

// What a stream becomes that comes in these pieces: the deltas, then the reply or the error.
inline std::string stream(reply_decoder& decoder, const std::vector<std::string_view>& pieces) {
  sse_splitter splitter;
  std::vector<project::delta> deltas;
  std::optional<error> failure;
  auto take = [&](std::string_view, std::string_view data) {
    if (failure) return;
    if (auto r = decoder.feed(data, deltas); !r) failure = r.error();
  };
  for (auto piece : pieces) splitter.feed(piece, take);
  splitter.finish(take);
  std::string out;
  for (auto& d : deltas) out += show(d);
  if (failure) return out + "| " + show(*failure);
  auto reply = decoder.finish();
  return out + "| " + (reply ? show(*reply) : show(reply.error()));
}

// Cut in two at every byte, and into single bytes: the same every time. Gives the first that differs, or nothing.
template <class Decoder> std::string differing_cut(std::string_view bytes) {
  auto shown = [](const std::vector<std::string_view>& pieces) {
    Decoder decoder;
    return stream(decoder, pieces);
  };
  auto whole = shown({bytes});
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    single.push_back(bytes.substr(i, 1));
    auto cut = shown({bytes.substr(0, i), bytes.substr(i)});
    if (cut != whole) return "cut at " + std::to_string(i) + ": " + cut;
  }
  auto apart = shown(single);
  return apart == whole ? "" : "in single bytes: " + apart;
}

} // namespace troupe::test
