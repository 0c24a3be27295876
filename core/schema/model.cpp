#include "core/schema/model.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

namespace {

// A provider type's own members with their defaults, as JSON text; the common ones come before.
struct settings_shape {
  std::string_view provider_type;
  std::string_view defaults;
};

constexpr settings_shape shapes[] = {
    {"openai",
     R"({"temperature":0.7,"reasoning":{"reasoning_effort":"high"},"response_format":null,"strict":true})"},
    {"sglang",
     R"({"temperature":0.7,"reasoning":{"reasoning_effort":"high"},"response_format":null,"strict":true,"tool_call_parser":null})"},
    {"anthropic",
     R"({"temperature":1.0,"thinking":{"type":"enabled","budget_tokens":1024},"response_format":null,"verbosity":null,"effort":null,"strict":false})"},
    {"google_ai",
     R"({"temperature":0.7,"thinking_config":{"include_thoughts":true,"thinking_budget":1024},"response_schema":null})"},
    {"google_vertex",
     R"({"temperature":0.7,"thinking_config":{"include_thoughts":true,"thinking_budget":1024},"response_schema":null})"},
    {"azure", R"({"temperature":0.7,"response_format":null})"},
    {"xai", R"({"temperature":0.7,"response_format":null})"},
    {"zai",
     R"({"temperature":0.7,"response_format":null,"thinking":{"type":"enabled","clear_thinking":false}})"},
    {"groq", R"({"temperature":0.7,"response_format":null})"},
    {"deepseek", R"({"temperature":0.7,"response_format":null})"},
    {"together", R"({"temperature":0.7,"response_format":null})"},
    {"bedrock", R"({"temperature":0.7,"response_format":null})"},
    {"openrouter", R"({"temperature":0.7,"response_format":null})"},
    {"baseten", R"({"temperature":0.7})"},
    {"chatgpt_oauth", R"({"temperature":0.7,"reasoning":{"reasoning_effort":"medium"}})"},
};

const settings_shape* shape_of(std::string_view provider_type) {
  for (auto& s : shapes)
    if (s.provider_type == provider_type) return &s;
  return nullptr;
}

bool same_kind(const json::value& given, const json::value& example) {
  if (example.is_null()) return true; // optional members: checked where they are used
  if (example.is_double() || example.is_int64()) return given.is_number();
  return given.kind() == example.kind();
}

json::object defaults_of(const settings_shape& shape) {
  json::object out;
  bool google = shape.provider_type.starts_with("google");
  out["max_output_tokens"] = google ? 65536 : 4096;
  out["parallel_tool_calls"] = true;
  out["provider_type"] = boost::json::string_view(shape.provider_type.data(), shape.provider_type.size());
  auto own = json::try_parse(shape.defaults);
  for (auto& [key, member] : own->get_object()) out[key] = member;
  return out;
}

} // namespace

bool is_handle(std::string_view model) {
  auto slash = model.find('/');
  return model.empty() || (slash != std::string_view::npos && slash != 0 && slash + 1 < model.size());
}

bool model_settings::read_json(json::reader& r, const json::value& v, model_settings& out) {
  auto* given = json::fields_of(r, v);
  if (!given) return false;
  auto type = json::string_or(v, "provider_type", "openai");
  auto* shape = shape_of(type);
  if (!shape) {
    std::vector<std::string_view> names;
    for (auto& s : shapes) names.push_back(s.provider_type);
    auto expected = json::alternatives(names);
    return r.fail("union_tag_invalid",
                  "Input tag '" + std::string(type) +
                      "' found using 'provider_type' does not match any of the expected tags: " + expected,
                  v, "{'discriminator': \"'provider_type'\", 'tag': " + json::python_repr(type) + "}");
  }
  json::reader::scope tag(r, type);
  out.values = defaults_of(*shape);
  out.explicit_.clear();
  bool good = true;
  for (auto& [key, member] : *given) {
    std::string name{key.data(), key.size()};
    auto* example = json::find(out.values, name);
    if (!example) continue; // unknown members are passed over, as everywhere in agent requests
    json::reader::scope at(r, name);
    if (name == "max_output_tokens") {
      std::int64_t n = 0;
      good &= json::read(r, member, n);
      out.values[key] = n;
    } else if (name == "temperature") {
      double d = 0;
      good &= json::read(r, member, d);
      out.values[key] = d;
    } else if (name == "parallel_tool_calls" || name == "strict") {
      bool b = false;
      good &= json::read(r, member, b);
      out.values[key] = b;
    } else if (!same_kind(member, *example) && !member.is_null()) {
      good &= r.fail("model_type", "Input should be a valid dictionary", member);
    } else if (member.is_object() && example->is_object()) {
      json::object merged = example->get_object();
      for (auto& [k, m] : member.get_object()) merged[k] = m;
      out.values[key] = std::move(merged);
    } else {
      out.values[key] = member;
    }
    out.explicit_.push_back(name);
  }
  return good;
}

void model_settings::write_json(std::string& out, const model_settings& s) { json::write(out, s.values); }

bool model_settings::has(std::string_view member) const {
  return std::find(explicit_.begin(), explicit_.end(), member) != explicit_.end();
}

void apply_settings(llm_config& config, const model_settings& settings) {
  json::value v(settings.values);
  auto optional_text = [&](const json::value* m) -> std::optional<std::string> {
    if (!m || !m->is_string()) return std::nullopt;
    return std::string(json::view(m->get_string()));
  };
  if (settings.has("max_output_tokens")) config.max_tokens = json::int_or(v, "max_output_tokens", 4096);
  if (auto* t = json::find(v, "temperature"); t && t->is_number())
    config.temperature = t->to_number<double>();
  if (auto* p = json::find(v, "parallel_tool_calls"); p && p->is_bool())
    config.parallel_tool_calls = p->get_bool();
  if (auto* s = json::find(v, "strict"); s && s->is_bool()) config.strict = s->get_bool();
  if (settings.provider_type() == "baseten") config.strict = true;
  if (auto* rf = json::find(v, "response_format")) {
    config.response_format.reset();
    if (rf->is_object()) config.response_format = rf->get_object();
  }
  if (auto* reasoning = json::find(v, "reasoning"))
    config.reasoning_effort = optional_text(json::find(*reasoning, "reasoning_effort"));
  if (auto* thinking = json::find(v, "thinking"); thinking && thinking->is_object()) {
    config.enable_reasoner = json::string_or(*thinking, "type") == "enabled";
    if (auto* budget = json::find(*thinking, "budget_tokens"); budget && budget->is_number())
      config.max_reasoning_tokens = budget->to_number<std::int64_t>();
  }
  if (auto* tc = json::find(v, "thinking_config"); tc && tc->is_object()) {
    auto* include = json::find(*tc, "include_thoughts");
    bool on = !include || !include->is_bool() || include->get_bool();
    config.max_reasoning_tokens = on ? json::int_or(*tc, "thinking_budget", 1024) : 0;
  }
  if (auto* m = json::find(v, "verbosity")) config.verbosity = optional_text(m);
  if (auto* m = json::find(v, "effort")) config.effort = optional_text(m);
  if (auto* m = json::find(v, "tool_call_parser")) config.tool_call_parser = optional_text(m);
}

json::object settings_of(const llm_config& config) {
  auto optional_value = [](const std::optional<std::string>& s) {
    return s ? json::value(boost::json::string(*s)) : json::value(nullptr);
  };
  json::value format = config.response_format ? json::value(*config.response_format) : json::value(nullptr);
  const auto* shape = shape_of(config.model_endpoint_type);
  json::object out;
  if (shape)
    out = defaults_of(*shape);
  else {
    out["max_output_tokens"] = 4096;
    out["parallel_tool_calls"] = true;
  }
  out["max_output_tokens"] = config.max_tokens.value_or(4096);
  auto set = [&](const char* name, json::value v) {
    if (out.contains(name)) out[name] = std::move(v);
  };
  set("temperature", config.temperature);
  set("strict", config.strict);
  set("response_format", format);
  set("verbosity", optional_value(config.verbosity));
  set("effort", optional_value(config.effort));
  set("tool_call_parser", optional_value(config.tool_call_parser));
  if (config.model_endpoint_type == "anthropic") {
    json::object thinking;
    thinking["type"] = config.enable_reasoner ? "enabled" : "disabled";
    thinking["budget_tokens"] = config.max_reasoning_tokens;
    set("thinking", std::move(thinking));
  } else if (config.model_endpoint_type == "zai") {
    json::object thinking;
    thinking["type"] = config.enable_reasoner ? "enabled" : "disabled";
    thinking["clear_thinking"] = false;
    set("thinking", std::move(thinking));
  }
  json::object reasoning;
  reasoning["reasoning_effort"] = config.reasoning_effort ? boost::json::string_view(*config.reasoning_effort)
                                                          : boost::json::string_view("minimal");
  set("reasoning", std::move(reasoning));
  json::object thoughts;
  thoughts["include_thoughts"] = config.max_reasoning_tokens > 0;
  thoughts["thinking_budget"] = config.max_reasoning_tokens;
  set("thinking_config", std::move(thoughts));
  return out;
}

void usage_statistics::write_json(std::string& out, const usage_statistics& u) {
  json::object_writer(out).add("message_type", "usage_statistics").members(u);
}

} // namespace troupe
