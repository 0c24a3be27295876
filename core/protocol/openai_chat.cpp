#include "core/protocol/openai_chat.hpp"

#include "core/base/text.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/conversation_view.hpp"
#include "core/protocol/provider_errors.hpp"

#include <algorithm>

namespace troupe::openai_chat {

bool is_reasoning_model(std::string_view model) {
  for (std::string_view p : {"o1", "o3", "o4", "gpt-5"})
    if (model.starts_with(p)) return true;
  return false;
}

namespace {

using turn = conversation_turn;

void write_image(std::string& out, const image_content& image) {
  json::object_writer w(out);
  w.add("type", "image_url");
  json::object_writer url(w.key("image_url"));
  url.add("url", image_url(image));
  url.add("detail", image.detail.value_or("auto"));
}

// A single text is a string, anything else a list of parts.
void write_user_content(std::string& out, const turn& t) {
  if (t.parts.size() == 1)
    if (auto* only = std::get_if<text_content>(t.parts[0])) return json::write(out, only->text);
  out.push_back('[');
  bool first = true;
  for (auto* p : t.parts) {
    auto* text = std::get_if<text_content>(p);
    auto* image = std::get_if<image_content>(p);
    if (!text && !image) continue;
    if (!first) out.push_back(',');
    first = false;
    if (text)
      json::object_writer(out).add("type", "text").add("text", text->text);
    else
      write_image(out, *image);
  }
  out.push_back(']');
}

void write_assistant(std::string& out, const turn& t, const llm_config& c) {
  json::object_writer w(out);
  auto text = hides_text(t, c) ? std::string{} : text_of(t);
  if (text.empty() && !t.calls.empty())
    w.null("content");
  else
    w.add("content", text);
  w.add("role", "assistant");
  if (t.calls.empty()) return;
  json::write_list(w.key("tool_calls"), t.calls, [](std::string& list, auto* call) {
    json::object_writer item(list);
    item.add("id", call->id).add("type", "function");
    json::object_writer(item.key("function")).add("name", call->name).add("arguments", call->arguments);
  });
}

std::string return_text(const tool_return& r) {
  if (auto* packed = std::get_if<std::string>(&r.func_response)) return *packed;
  std::string out;
  for (auto& p : std::get<1>(r.func_response)) {
    if (!out.empty()) out += "\n";
    auto* text = std::get_if<text_content>(&p);
    out += text ? text->text : "[Image omitted]";
  }
  return out;
}

std::string_view system_role(std::string_view model) {
  bool instructs = is_reasoning_model(model) && model.find("o1-mini") == std::string_view::npos;
  return instructs ? "developer" : "system";
}

// The provider refuses others.
bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of(" \t\r\n\f\v<|\\/>") == std::string_view::npos;
}

void write_turn(std::string& out, const turn& t, const model_request& r) {
  switch (t.what) {
  case turn::kind::system:
    json::object_writer(out).add("content", system_text(t, r)).add("role", system_role(r.config.model));
    return;
  case turn::kind::user: {
    json::object_writer w(out);
    write_user_content(w.key("content"), t);
    w.add("role", "user");
    if (t.source->name && is_name(*t.source->name)) w.add("name", *t.source->name);
    return;
  }
  case turn::kind::assistant: return write_assistant(out, t, r.config);
  case turn::kind::tool:
    json::object_writer(out)
        .add("content", cut_for_prompt(return_text(*t.returned), tool_return_budget(r.config.context_window)))
        .add("role", "tool")
        .add("tool_call_id", t.returned->tool_call_id.value_or(""));
  }
}

void write_messages(std::string& out, const model_request& r) {
  json::write_list(out, conversation_turns(r.messages),
                   [&](std::string& list, const turn& t) { write_turn(list, t, r); });
}

void write_tools(std::string& out, const model_request& r) {
  json::write_list(out, r.tools, [](std::string& list, const offered_tool& t) {
    json::object_writer w(list);
    w.add("type", "function");
    json::object_writer f(w.key("function"));
    f.add("name", t.name).add("description", t.description).add("parameters", *t.parameters);
    if (t.strict) f.add("strict", true);
  });
}

void write_choice(json::object_writer& w, const tool_choice& choice) {
  switch (choice.what) {
  case tool_choice::kind::none: w.add("tool_choice", "none"); return;
  case tool_choice::kind::automatic: w.add("tool_choice", "auto"); return;
  case tool_choice::kind::required: w.add("tool_choice", "required"); return;
  case tool_choice::kind::named: {
    json::object_writer named(w.key("tool_choice"));
    named.add("type", "function");
    json::object_writer(named.key("function")).add("name", choice.name);
  }
  }
}

token_usage read_usage(const json::value& v) {
  token_usage u;
  u.prompt = json::int_or(v, "prompt_tokens", 0);
  u.completion = json::int_or(v, "completion_tokens", 0);
  u.total = json::int_or(v, "total_tokens", u.prompt + u.completion);
  auto detail = [&](const char* group, const char* name) -> std::optional<std::int64_t> {
    auto* g = json::find(v, group);
    auto* n = g ? json::find(*g, name) : nullptr;
    if (!n || !n->is_number()) return std::nullopt;
    return n->to_number<std::int64_t>();
  };
  u.cached_input = detail("prompt_tokens_details", "cached_tokens");
  u.reasoning = detail("completion_tokens_details", "reasoning_tokens");
  return u;
}

// The reasoning that compatible servers send beside the text, under one of two names.
std::string_view reasoning_of(const json::value& v) {
  auto text = json::string_or(v, "reasoning_content");
  return text.empty() ? json::string_or(v, "reasoning") : text;
}

error broken(const std::string& what) { return provider_errors::server_error("OpenAI", what); }

} // namespace

namespace {
void write_request(json::object_writer& w, const model_request& r) {
  auto& c = r.config;
  bool reasons = is_reasoning_model(c.model);
  w.add("model", c.model);
  write_messages(w.key("messages"), r);
  if (c.max_tokens) w.add("max_completion_tokens", *c.max_tokens);
  w.add("temperature", reasons ? 1.0 : c.temperature); // such models take nothing else
  w.add("user", r.user);
  if (c.frequency_penalty) w.add("frequency_penalty", *c.frequency_penalty);
  if (reasons && c.reasoning_effort && *c.reasoning_effort != "none")
    w.add("reasoning_effort", *c.reasoning_effort);
  if (c.model.starts_with("gpt-5") && c.verbosity) w.add("verbosity", *c.verbosity);
  if (!r.tools.empty()) {
    if (!reasons) w.add("parallel_tool_calls", r.parallel_tool_calls);
    write_tools(w.key("tools"), r);
    write_choice(w, r.choice);
  } else {
    w.null("tools").null("tool_choice");
  }
  if (r.response_format) w.add("response_format", *r.response_format);
  if (c.return_logprobs) w.add("logprobs", true);
  if (c.return_logprobs && c.top_logprobs) w.add("top_logprobs", *c.top_logprobs);
  if (!r.stream) return;
  w.add("stream", true);
  json::object_writer(w.key("stream_options")).add("include_usage", true);
}
} // namespace

std::string request_body(const model_request& r) {
  std::string out;
  out.reserve(4096);
  {
    json::object_writer w(out);
    write_request(w, r);
  }
  return out;
}

namespace {

// Some providers answer with nothing where they should say that they failed.
bool is_empty(const json::value& message) {
  auto* content = json::find(message, "content");
  auto* calls = json::find(message, "tool_calls");
  bool has_calls = calls && calls->is_array() && !calls->get_array().empty();
  return (!content || content->is_null()) && !has_calls;
}

error empty_reply(const json::value& body, const json::value& choice) {
  auto part = [](const json::value& v, std::string_view name) {
    auto* found = json::find(v, name);
    return found && found->is_string() ? std::string(json::view(found->get_string())) : std::string("None");
  };
  return llm_failure(
      errc::llm_empty_response, "LLMEmptyResponseError",
      "INTERNAL_SERVER_ERROR: LLM provider returned empty content in response (ID: " + part(body, "id") +
          ", model: " + part(body, "model") + ", finish_reason: " + part(choice, "finish_reason") + ")");
}

} // namespace

result<model_reply> parse_reply(std::string_view body) {
  auto v = json::try_parse(body);
  auto* choices = v ? json::find(*v, "choices") : nullptr;
  if (!choices || !choices->is_array() || choices->get_array().empty())
    return broken("the reply is no chat completion");
  auto& choice = choices->get_array()[0];
  auto* m = json::find(choice, "message");
  if (!m || !m->is_object()) return broken("the reply has no message");
  if (is_empty(*m)) return empty_reply(*v, choice);
  model_reply reply;
  if (auto reasoning = reasoning_of(*m); !reasoning.empty())
    reply.content.emplace_back(reasoning_content{true, std::string(reasoning), std::nullopt});
  auto* content = json::find(*m, "content");
  if (content && content->is_string() && !content->get_string().empty())
    reply.content.emplace_back(text_content{std::string(json::view(content->get_string())), std::nullopt});
  if (auto* calls = json::find(*m, "tool_calls"); calls && calls->is_array())
    for (auto& call : calls->get_array())
      if (auto* f = json::find(call, "function")) {
        auto arguments = json::string_or(*f, "arguments");
        reply.calls.push_back({std::string(json::string_or(call, "id")),
                               std::string(json::string_or(*f, "name")),
                               std::string(arguments.empty() ? "{}" : arguments)});
      }
  if (auto reason = json::string_or(choice, "finish_reason"); !reason.empty())
    reply.finish_reason = std::string(reason);
  if (auto* usage = json::find(*v, "usage"); usage && usage->is_object()) reply.usage = read_usage(*usage);
  reply.raw = body;
  return reply;
}

// -- streams --------------------------------------------------------------------------------------
void stream_decoder::announce(std::vector<project::delta>& out) {
  if (!silent_ || announced_) return;
  announced_ = true;
  out.push_back({project::delta::kind::hidden_reasoning, {}, {}, {}, {}, {}});
  reply_.content.insert(reply_.content.begin(), omitted_reasoning_content{});
}

void stream_decoder::text(std::string_view piece, std::vector<project::delta>& out) {
  announce(out);
  if (reply_.content.empty() || !std::holds_alternative<text_content>(reply_.content.back()))
    reply_.content.emplace_back(text_content{});
  std::get<text_content>(reply_.content.back()).text += piece;
  out.push_back({project::delta::kind::text, std::string(piece), {}, {}, {}, {}});
}

void stream_decoder::reasoning(std::string_view piece, std::vector<project::delta>& out) {
  if (reply_.content.empty() || !std::holds_alternative<reasoning_content>(reply_.content.back()))
    reply_.content.emplace_back(reasoning_content{true, {}, std::nullopt});
  std::get<reasoning_content>(reply_.content.back()).reasoning += piece;
  out.push_back({project::delta::kind::reasoning, std::string(piece), {}, {}, {}, {}});
}

void stream_decoder::call(const json::value& piece, std::vector<project::delta>& out) {
  announce(out);
  auto index = static_cast<std::size_t>(std::max<std::int64_t>(0, json::int_or(piece, "index", 0)));
  if (index > 127) return; // no model makes that many calls; a hostile index must not allocate
  if (reply_.calls.size() <= index) reply_.calls.resize(index + 1);
  auto& call = reply_.calls[index];
  bool first = call.id.empty();
  if (auto id = json::string_or(piece, "id"); !id.empty() && first) call.id = std::string(id);
  if (call.id.empty()) call.id = "call_" + std::to_string(index);
  std::string name, arguments;
  if (auto* f = json::find(piece, "function")) {
    name = std::string(json::string_or(*f, "name"));
    if (name == call.name) name.clear(); // some servers repeat it
    arguments = std::string(json::string_or(*f, "arguments"));
  }
  call.name += name;
  call.arguments += arguments;
  if (!name.empty() || !arguments.empty())
    out.push_back({project::delta::kind::tool_call, arguments, call.id, name, {}, {}});
}

result<void> stream_decoder::feed(std::string_view data, std::vector<project::delta>& out) {
  if (data == "[DONE]") {
    done_ = true;
    return {};
  }
  auto v = json::try_parse(data);
  if (!v || !v->is_object()) return broken("an event of the stream is not JSON");
  any_ = true;
  if (auto* e = json::find(*v, "error"); e && !e->is_null()) return stream_error(*e);
  if (auto* usage = json::find(*v, "usage"); usage && usage->is_object()) reply_.usage = read_usage(*usage);
  auto* choices = json::find(*v, "choices");
  if (!choices || !choices->is_array() || choices->get_array().empty()) return {};
  auto& choice = choices->get_array()[0];
  if (auto reason = json::string_or(choice, "finish_reason"); !reason.empty())
    reply_.finish_reason = std::string(reason);
  auto* d = json::find(choice, "delta");
  if (!d) return {};
  if (auto piece = reasoning_of(*d); !piece.empty()) reasoning(piece, out);
  if (auto piece = json::string_or(*d, "content"); !piece.empty()) text(piece, out);
  if (auto* calls = json::find(*d, "tool_calls"); calls && calls->is_array())
    for (auto& piece : calls->get_array()) call(piece, out);
  return {};
}

result<model_reply> stream_decoder::finish() {
  // Servers that leave out [DONE] are common; one that stops without a finish_reason broke off.
  if (!done_ && !reply_.finish_reason) return provider_errors::broken_stream("OpenAI", any_);
  for (auto& call : reply_.calls)
    if (call.arguments.empty()) call.arguments = "{}";
  return std::move(reply_);
}

} // namespace troupe::openai_chat
