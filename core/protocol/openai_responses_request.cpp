// Requests of OpenAI's Responses protocol.
#include "core/base/text.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/conversation_view.hpp"
#include "core/protocol/openai_chat.hpp"
#include "core/protocol/openai_responses.hpp"

namespace troupe::openai_responses {

namespace {

using turn = conversation_turn;

constexpr std::size_t longest_call_id = 64; // what the provider takes

using items = std::vector<std::string>; // JSON texts

std::string item(std::string_view role, std::string_view text) {
  return json::object_text([&](json::object_writer& w) { w.add("role", role).add("content", text); });
}

std::string array_of(const items& list) { return "[" + text::join(list, ",") + "]"; }

std::string text_part(std::string_view text) {
  return json::object_text([&](json::object_writer& w) { w.add("type", "input_text").add("text", text); });
}

std::string image_part(const image_content& image) {
  return json::object_text([&](json::object_writer& w) {
    w.add("type", "input_image")
        .add("image_url", image_url(image))
        .add("detail", image.detail.value_or("auto"));
  });
}

void add_user(items& out, const turn& t) {
  items parts;
  for (auto* p : t.parts) {
    if (auto* text = std::get_if<text_content>(p)) parts.push_back(text_part(text->text));
    if (auto* image = std::get_if<image_content>(p)) parts.push_back(image_part(*image));
  }
  if (parts.empty()) parts.push_back(text_part(""));
  out.push_back(json::object_text(
      [&](json::object_writer& w) { w.add("role", "user").raw("content", array_of(parts)); }));
}

std::string thought_item(const summarized_reasoning_content& r) {
  items summary;
  for (auto& part : r.summary)
    summary.push_back(json::object_text(
        [&](json::object_writer& w) { w.add("type", "summary_text").add("text", part.text); }));
  return json::object_text([&](json::object_writer& w) {
    w.add("type", "reasoning")
        .add("id", r.id)
        .raw("summary", array_of(summary))
        .add("encrypted_content", *r.encrypted_content);
  });
}

std::string call_id(std::string_view id) { return std::string(id.substr(0, longest_call_id)); }

// A thought is only taken back sealed, by the model that had it, and with something behind it.
void add_assistant(items& out, const turn& t, const llm_config& c) {
  items thoughts;
  auto say = [&](std::string item) {
    std::move(thoughts.begin(), thoughts.end(), std::back_inserter(out));
    thoughts.clear();
    out.push_back(std::move(item));
  };
  for (auto* p : t.parts) {
    auto* thought = std::get_if<summarized_reasoning_content>(p);
    auto* text = std::get_if<text_content>(p);
    if (thought && thought->encrypted_content && thought_by(t, c)) thoughts.push_back(thought_item(*thought));
    if (text && !text->text.empty() && !hides_text(t, c)) say(item("assistant", text->text));
  }
  for (auto* call : t.calls)
    say(json::object_text([&](json::object_writer& w) {
      w.add("type", "function_call")
          .add("call_id", call_id(call->id))
          .add("name", call->name)
          .add("arguments", call->arguments)
          .add("status", "completed");
    }));
}

std::string output_of(const tool_return& r, std::int64_t budget) {
  if (auto* packed = std::get_if<std::string>(&r.func_response))
    return json::to_text(cut_for_prompt(*packed, budget));
  items parts;
  for (auto& p : std::get<1>(r.func_response)) {
    if (auto* text = std::get_if<text_content>(&p))
      parts.push_back(text_part(cut_for_prompt(text->text, budget)));
    if (auto* image = std::get_if<image_content>(&p)) parts.push_back(image_part(*image));
  }
  return parts.empty() ? "\"\"" : array_of(parts);
}

void add_return(items& out, const turn& t, const llm_config& c) {
  out.push_back(json::object_text([&](json::object_writer& w) {
    w.add("type", "function_call_output")
        .add("call_id", call_id(t.returned->tool_call_id.value_or("")))
        .raw("output", output_of(*t.returned, tool_return_budget(c.context_window)));
  }));
}

std::string input_of(const model_request& r) {
  items out;
  for (auto& t : conversation_turns(r.messages)) switch (t.what) {
    case turn::kind::system: out.push_back(item("developer", system_text(t, r))); break;
    case turn::kind::user: add_user(out, t); break;
    case turn::kind::assistant: add_assistant(out, t, r.config); break;
    case turn::kind::tool: add_return(out, t, r.config); break;
    }
  return array_of(out);
}

// -- tools ------------------------------------------------------------------------------------------
std::string tools_of(const model_request& r) {
  items out;
  for (auto& t : r.tools)
    out.push_back(json::object_text([&](json::object_writer& w) {
      w.add("type", "function")
          .add("name", t.name)
          .add("description", t.description)
          .add("parameters", *t.parameters)
          .add("strict", t.strict); // said, because the provider's own default rewrites schemas
    }));
  return array_of(out);
}

void write_choice(json::object_writer& w, const tool_choice& choice) {
  switch (choice.what) {
  case tool_choice::kind::none: w.add("tool_choice", "none"); return;
  case tool_choice::kind::automatic: w.add("tool_choice", "auto"); return;
  case tool_choice::kind::required: w.add("tool_choice", "required"); return;
  case tool_choice::kind::named:
    json::object_writer(w.key("tool_choice")).add("type", "function").add("name", choice.name);
  }
}

// -- how to answer ----------------------------------------------------------------------------------
// {"type":"json_schema","json_schema":{name, schema, strict}} of Chat Completions lies flat here.
std::optional<std::string> format_of(const model_request& r) {
  auto& given = r.response_format ? r.response_format : r.config.response_format;
  if (!given) return std::nullopt;
  auto type = json::string_or(*given, "type");
  if (type == "text") return std::nullopt;
  auto* schema = json::find(*given, "json_schema");
  if (type != "json_schema" || !schema || !schema->is_object()) return json::to_text(*given);
  json::object flat = schema->get_object();
  flat["type"] = "json_schema";
  if (!flat.contains("name")) flat["name"] = "response_schema";
  return json::to_text(flat);
}

void write_text(json::object_writer& w, const model_request& r) {
  bool speaks_up = r.config.verbosity && r.config.model.starts_with("gpt-5");
  auto format = format_of(r);
  if (!speaks_up && !format) return;
  json::object_writer text(w.key("text"));
  if (speaks_up) text.add("verbosity", *r.config.verbosity);
  if (format) text.raw("format", *format);
}

// A name that ends in -fast is the model itself, served with priority.
void write_model(json::object_writer& w, const std::string& model) {
  constexpr std::string_view fast = "-fast";
  if (!model.ends_with(fast)) {
    w.add("model", model);
    return;
  }
  w.add("model", model.substr(0, model.size() - fast.size())).add("service_tier", "priority");
}

} // namespace

std::string request_body(const model_request& r) {
  return json::object_text([&](json::object_writer& w) {
    auto& c = r.config;
    write_model(w, c.model);
    w.raw("input", input_of(r)).add("store", false).raw("include", R"(["reasoning.encrypted_content"])");
    if (c.max_tokens) w.add("max_output_tokens", *c.max_tokens);
    if (!openai_chat::is_reasoning_model(c.model)) w.add("temperature", c.temperature);
    if (c.reasoning_effort && *c.reasoning_effort != "none")
      json::object_writer(w.key("reasoning")).add("effort", *c.reasoning_effort).add("summary", "detailed");
    write_text(w, r);
    w.add("user", r.user);
    w.add("parallel_tool_calls", !r.tools.empty() && r.parallel_tool_calls);
    if (!r.tools.empty()) {
      w.raw("tools", tools_of(r));
      write_choice(w, r.choice);
    }
    if (r.stream) w.add("stream", true);
  });
}

} // namespace troupe::openai_responses
