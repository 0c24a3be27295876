// Requests of Anthropic's Messages protocol: the prompt apart, turns of user and assistant in alternation, results of
// tools as blocks of the user, marks up to where the provider may cache.
#include "core/base/text.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/anthropic.hpp"
#include "core/protocol/conversation_view.hpp"

#include <algorithm>
#include <cctype>

namespace troupe::anthropic {

namespace {

using turn = conversation_turn;

constexpr std::string_view cache_mark = R"("cache_control":{"type":"ephemeral"})";
constexpr std::int64_t least_budget = 1024; // tokens, what the provider asks for
constexpr std::int64_t default_max_tokens = 4096;
constexpr std::string_view opening =
    "(start of the conversation)"; // where nobody has spoken before the model

// A message on its way out: the JSON text of each of its blocks.
struct outgoing {
  bool user = false;
  std::vector<std::string> blocks;
  const std::string* only_text = nullptr; // of a user: the whole content is this text
};

std::string text_block(std::string_view text) {
  return json::object_text([&](json::object_writer& w) { w.add("type", "text").add("text", text); });
}

bool is_blank(std::string_view text) { return text::trim(text).empty(); }

std::string image_block(const image_content& image) {
  return json::object_text([&](json::object_writer& w) {
    w.add("type", "image");
    json::object_writer source(w.key("source"));
    if (image.source_type == "url")
      source.add("type", "url").add("url", image.url);
    else
      source.add("type", "base64")
          .add("data", image.data.value_or(""))
          .add("media_type", image.media_type.value_or("image/png"));
  });
}

// Ids of calls come from other models as well, whose letters may not be allowed here.
std::string call_id(std::string_view id) {
  std::string out(id);
  for (auto& ch : out)
    if (!std::isalnum(static_cast<unsigned char>(ch)) && ch != '_' && ch != '-') ch = '_';
  return out;
}

json::object call_input(const std::string& arguments) {
  auto v = json::try_parse(arguments);
  if (v && v->is_object()) return v->get_object();
  json::object out; // broken by the model that wrote it; still shown as what it was
  out["_malformed_tool_arguments"] = boost::json::string(arguments);
  return out;
}

// -- turns ------------------------------------------------------------------------------------------
struct part_blocks {
  std::vector<std::string>& out;
  bool own_thoughts, hide_text;

  void operator()(const text_content& p) const {
    if (!hide_text && !is_blank(p.text)) out.push_back(text_block(p.text));
  }
  // Only a signed thought is taken back.
  void operator()(const reasoning_content& p) const {
    if (!own_thoughts || !p.signature) return;
    out.push_back(json::object_text([&](json::object_writer& w) {
      w.add("type", "thinking").add("thinking", p.reasoning).add("signature", *p.signature);
    }));
  }
  void operator()(const redacted_reasoning_content& p) const {
    if (!own_thoughts) return;
    out.push_back(json::object_text(
        [&](json::object_writer& w) { w.add("type", "redacted_thinking").add("data", p.data); }));
  }
  void operator()(const image_content& p) const { out.push_back(image_block(p)); }
  void operator()(const omitted_reasoning_content&) const {}
  void operator()(const summarized_reasoning_content&) const {}
  void operator()(const other_content&) const {}
};

outgoing assistant_message(const turn& t, const llm_config& c) {
  outgoing m;
  part_blocks add{m.blocks, thought_by(t, c), hides_text(t, c)};
  for (auto* p : t.parts)
    if (!std::holds_alternative<image_content>(*p)) std::visit(add, *p);
  for (auto* call : t.calls)
    m.blocks.push_back(json::object_text([&](json::object_writer& w) {
      w.add("type", "tool_use")
          .add("id", call_id(call->id))
          .add("name", call->name)
          .add("input", call_input(call->arguments));
    }));
  return m;
}

outgoing user_message(const turn& t) {
  outgoing m{true, {}, nullptr};
  if (t.parts.size() == 1)
    if (auto* only = std::get_if<text_content>(t.parts[0])) {
      if (!is_blank(only->text)) m.only_text = &only->text;
      return m;
    }
  part_blocks add{m.blocks, false, false};
  for (auto* p : t.parts) std::visit(add, *p);
  return m;
}

// A system message after the first is an event of the conversation.
outgoing event_message(const turn& t) {
  auto text = text_of(t);
  if (is_blank(text)) return {true, {}, nullptr};
  return {true, {text_block("<event>SYSTEM ALERT: " + text + "</event>")}, nullptr};
}

void write_result(std::string& out, const tool_return& r, std::int64_t budget) {
  if (auto* packed = std::get_if<std::string>(&r.func_response))
    return json::write(out, cut_for_prompt(*packed, budget));
  std::vector<std::string> blocks;
  for (auto& p : std::get<1>(r.func_response)) {
    if (auto* image = std::get_if<image_content>(&p)) blocks.push_back(image_block(*image));
    if (auto* text = std::get_if<text_content>(&p); text && !is_blank(text->text))
      blocks.push_back(text_block(cut_for_prompt(text->text, budget)));
  }
  out += "[" + text::join(blocks, ",") + "]";
}

outgoing result_message(const turn& t, const llm_config& c) {
  auto block = json::object_text([&](json::object_writer& w) {
    w.add("type", "tool_result").add("tool_use_id", call_id(t.returned->tool_call_id.value_or("")));
    write_result(w.key("content"), *t.returned, tool_return_budget(c.context_window));
  });
  return {true, {std::move(block)}, nullptr};
}

outgoing message_of(const turn& t, const llm_config& c) {
  switch (t.what) {
  case turn::kind::system: return event_message(t);
  case turn::kind::user: return user_message(t);
  case turn::kind::assistant: return assistant_message(t, c);
  case turn::kind::tool: break;
  }
  return result_message(t, c);
}

// -- the list of messages ---------------------------------------------------------------------------
void spell_out(outgoing& m) {
  if (m.only_text) m.blocks.insert(m.blocks.begin(), text_block(*m.only_text));
  m.only_text = nullptr;
}

// The roles alternate: what one side says in a row is one message.
void append(std::vector<outgoing>& list, outgoing m) {
  if (m.blocks.empty() && !m.only_text) return;
  if (list.empty() || list.back().user != m.user) return list.push_back(std::move(m));
  auto& last = list.back();
  spell_out(last);
  spell_out(m);
  std::move(m.blocks.begin(), m.blocks.end(), std::back_inserter(last.blocks));
}

// A reply that the model is to go on with may not end in white space.
void trim_end(std::vector<outgoing>& list, const std::vector<turn>& turns) {
  if (list.back().user || turns.back().parts.empty() || !turns.back().calls.empty()) return;
  auto* text = std::get_if<text_content>(turns.back().parts.back());
  if (!text || is_blank(text->text)) return;
  std::string_view kept = text->text;
  while (std::isspace(static_cast<unsigned char>(kept.back()))) kept.remove_suffix(1);
  list.back().blocks.back() = text_block(kept);
}

// What comes before the mark is cached: the next request of the conversation begins with it.
void mark_end(std::vector<outgoing>& list) {
  auto& last = list.back();
  spell_out(last);
  auto& block = last.blocks.back();
  if (block.starts_with(R"({"type":"thinking")") || block.starts_with(R"({"type":"redacted_thinking")"))
    return;
  block.pop_back();
  block.append(",").append(cache_mark).append("}");
}

std::vector<outgoing> messages_of(const model_request& r) {
  std::vector<outgoing> list;
  auto turns = conversation_turns(r.messages);
  for (auto& t : turns)
    if (!is_prompt(t, r)) append(list, message_of(t, r.config));
  if (list.empty() || !list.front().user) list.insert(list.begin(), {true, {text_block(opening)}, nullptr});
  trim_end(list, turns);
  mark_end(list);
  return list;
}

void write_messages(std::string& out, const model_request& r) {
  json::write_list(out, messages_of(r), [](std::string& list, auto& m) {
    json::object_writer w(list);
    w.add("role", m.user ? "user" : "assistant");
    if (m.only_text)
      w.add("content", *m.only_text);
    else
      w.raw("content", "[" + text::join(m.blocks, ",") + "]");
  });
}

void write_prompt(json::object_writer& w, const model_request& r) {
  if (r.messages.empty()) return;
  auto turns = conversation_turns({r.messages.front()});
  if (turns.empty() || !is_prompt(turns.front(), r)) return;
  auto text = system_text(turns.front(), r);
  if (is_blank(text)) return;
  auto& list = w.key("system");
  list.push_back('[');
  json::object_writer(list)
      .add("type", "text")
      .add("text", text)
      .raw("cache_control", R"({"type":"ephemeral"})");
  list.push_back(']');
}

// -- tools --------------------------------------------------------------------------------------------
json::value plain_schema(const json::value& schema);

json::array plain_list(const json::array& list) {
  json::array out;
  for (auto& v : list) out.push_back(plain_schema(v));
  return out;
}

json::object plain_properties(const json::object& properties) {
  json::object out;
  for (auto& [name, v] : properties) out[name] = plain_schema(v);
  return out;
}

// ["string", "null"] is "string" here.
json::value plain_type(const json::value& type) {
  if (!type.is_array()) return type;
  json::array kept;
  for (auto& t : type.get_array())
    if (!t.is_string() || t.get_string() != "null") kept.push_back(t);
  if (kept.empty()) return boost::json::string("string");
  return kept.size() == 1 ? kept[0] : json::value(kept);
}

// Without defaults and without types that may also be null, which the provider refuses in places.
json::value plain_schema(const json::value& schema) {
  if (!schema.is_object()) return schema;
  json::object out;
  for (auto& [key, v] : schema.get_object()) {
    std::string_view name(key.data(), key.size());
    if (name == "default") continue;
    if (name == "type")
      out[key] = plain_type(v);
    else if (name == "properties" && v.is_object())
      out[key] = plain_properties(v.get_object());
    else if ((name == "anyOf" || name == "oneOf" || name == "allOf") && v.is_array())
      out[key] = plain_list(v.get_array());
    else if (name == "items" || name == "additionalProperties")
      out[key] = plain_schema(v);
    else
      out[key] = v;
  }
  return out;
}

json::object input_schema(const json::object& parameters) {
  auto out = plain_schema(json::value(parameters)).get_object();
  out["type"] = "object";
  auto* properties = json::find(out, "properties");
  if (!properties || !properties->is_object()) out["properties"] = json::object{};
  return out;
}

void write_tools(std::string& out, const std::vector<offered_tool>& tools) {
  json::write_list(out, tools, [&](std::string& list, const offered_tool& t) {
    json::object_writer w(list);
    w.add("name", t.name).add("description", t.description).add("input_schema", input_schema(*t.parameters));
    if (&t == &tools.back()) w.raw("cache_control", R"({"type":"ephemeral"})");
  });
}

// A model that thinks cannot be forced to a tool.
void write_choice(json::object_writer& w, const model_request& r) {
  auto what = r.choice.what;
  using kind = tool_choice::kind;
  if (thinks(r.config) && what != kind::none) what = kind::automatic;
  json::object_writer choice(w.key("tool_choice"));
  switch (what) {
  case kind::none: choice.add("type", "none"); return;
  case kind::automatic: choice.add("type", "auto"); break;
  case kind::required: choice.add("type", "any"); break;
  case kind::named: choice.add("type", "tool").add("name", r.choice.name);
  }
  choice.add("disable_parallel_tool_use", !r.parallel_tool_calls);
}

// -- how to think ---------------------------------------------------------------------------------
void write_thinking(json::object_writer& w, const llm_config& c) {
  auto max_tokens = c.max_tokens.value_or(default_max_tokens);
  if (!thinks(c)) {
    w.add("max_tokens", max_tokens).add("temperature", c.temperature);
    return;
  }
  if (thinks_adaptively(c.model)) {
    w.add("max_tokens", max_tokens).add("temperature", 1.0).raw("thinking", R"({"type":"adaptive"})");
    return;
  }
  auto budget = std::max(c.max_reasoning_tokens, least_budget);
  if (max_tokens <= budget) max_tokens += budget; // the thoughts count as part of the reply
  w.add("max_tokens", max_tokens).add("temperature", 1.0);
  json::object_writer(w.key("thinking")).add("type", "enabled").add("budget_tokens", budget);
}

std::string_view model_name(std::string_view model) {
  auto slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

} // namespace

std::string request_body(const model_request& r) {
  return json::object_text([&](json::object_writer& w) {
    auto& c = r.config;
    w.add("model", model_name(c.model));
    write_thinking(w, c);
    if (c.effort && takes_effort(c.model))
      json::object_writer(w.key("output_config")).add("effort", *c.effort);
    if (keeps_thoughts(c))
      w.raw("context_management", R"({"edits":[{"type":"clear_thinking_20251015","keep":"all"}]})");
    if (!r.tools.empty()) {
      write_choice(w, r);
      write_tools(w.key("tools"), r.tools);
    }
    write_prompt(w, r);
    write_messages(w.key("messages"), r);
    if (r.stream) w.add("stream", true);
  });
}

} // namespace troupe::anthropic
