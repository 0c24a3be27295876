#include "core/schema/agent.hpp"

#include "core/json/writer.hpp"

namespace troupe {

bool initial_message::read_json(json::reader& r, const json::value& v, initial_message& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = true;
  {
    json::reader::scope at(r, "role");
    auto* role = json::find(*o, "role");
    auto word = role && role->is_string() ? json::view(role->get_string()) : std::string_view{};
    constexpr const char* expected =
        "<MessageRole.user: 'user'>, <MessageRole.system: 'system'> or <MessageRole.assistant: 'assistant'>";
    if (!role)
      good = r.fail("missing", "Field required", v);
    else if (word != "user" && word != "system" && word != "assistant")
      good = r.fail("literal_error", std::string("Input should be ") + expected, *role,
                    "{'expected': " + json::python_repr(std::string_view{expected}) + "}");
    else
      out.role = *json::enum_from<message_role>(word);
  }
  if (auto* name = json::find(*o, "name")) {
    json::reader::scope at(r, "name");
    good &= json::read(r, *name, out.name);
  }
  json::reader::scope at(r, "content");
  auto* content = json::find(*o, "content");
  if (!content) return r.fail("missing", "Field required", v);
  if (content->is_string()) return json::read(r, *content, out.content) && good;
  auto* parts = content->if_array();
  if (!parts) return r.fail("string_type", "Input should be a valid string", *content);
  for (auto& part : *parts) out.content += json::string_or(part, "text");
  return good;
}

bool embedding_handle::read_json(json::reader& r, const json::value& v, embedding_handle& out) {
  if (!json::read(r, v, out.value)) return false;
  if (!is_handle(out.value))
    return r.fail_value("The embedding handle should be in the format provider/model-name", v);
  return true;
}

bool response_format::read_json(json::reader& r, const json::value& v, response_format& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  auto type = json::string_or(v, "type");
  if (type == "json_schema") {
    json::reader::scope tag(r, "json_schema");
    json::reader::scope at(r, "json_schema");
    auto* schema = json::find(*o, "json_schema");
    if (!schema) return r.fail("missing", "Field required", v);
    if (!schema->is_object()) return r.fail("dict_type", "Input should be a valid dictionary", *schema);
  } else if (type != "text" && type != "json_object") {
    return r.fail("union_tag_invalid",
                  "Input tag '" + std::string(type) +
                      "' found using 'type' does not match any of the expected tags: "
                      "<ResponseFormatType.text: 'text'>, "
                      "<ResponseFormatType.json_schema: 'json_schema'>, <ResponseFormatType.json_object: "
                      "'json_object'>",
                  v, "{'discriminator': \"'type'\", 'tag': " + json::python_repr(type) + "}");
  }
  out.value = *o;
  return true;
}

bool create_agent::read_json(json::reader& r, const json::value& v, create_agent& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  // A name may be left out, but it may not be null.
  if (auto* name = json::find(*o, "name"); name && name->is_null()) {
    json::reader::scope at(r, "name");
    r.fail("string_type", "Input should be a valid string", *name);
  }
  if (!json::read_members(r, *o, out) || !r.ok()) return false;
  if (out.agent_type_ == agent_type::voice_convo_agent && !out.enable_sleeptime.value_or(false))
    return r.fail_value("Agent type `voice_convo_agent` requires `enable_sleeptime` to be True", v);
  return true;
}

namespace {

void write_blocks(std::string& out, const std::vector<block>& blocks) {
  json::write_list(out, blocks, [](std::string& list, const block& b) { block::write_api(list, b, false); });
}

} // namespace

void write_memory(std::string& out, agent_type type, const std::vector<block>& blocks) {
  json::object_writer w(out);
  w.add("agent_type", type).add("git_enabled", false);
  write_blocks(w.key("blocks"), blocks);
  w.raw("file_blocks", "[]").add("prompt_template", "");
}

namespace {

template <class T> const std::vector<T>& when(bool included, const std::vector<T>& items) {
  static const std::vector<T> none;
  return included ? items : none;
}

void write_secrets(std::string& out, const agent& a, bool included) {
  json::write_list(out, when(included, a.secrets), [&](std::string& list, const secret& s) {
    json::object_writer(list)
        .null("created_by_id")
        .null("last_updated_by_id")
        .null("created_at")
        .null("updated_at")
        .add("id", s.id)
        .add("key", s.key)
        .add("value", s.value)
        .add("description", s.description)
        .add("organization_id", a.organization_id)
        .add("value_enc", s.value)
        .add("agent_id", a.id);
  });
}

struct file_limits {
  std::int64_t max_files_open;
  std::int64_t view_chars;
};

// What fits into a context window.
file_limits file_limits_for(std::int64_t window) {
  if (window <= 0) return {5, 50000};
  if (window <= 8'000) return {3, 5000};
  if (window <= 32'000) return {5, 15000};
  if (window <= 128'000) return {10, 25000};
  if (window <= 200'000) return {10, 40000};
  return {15, 40000};
}

} // namespace

void write_agent_state(std::string& out, const agent_view& view) {
  auto& a = view.record;
  auto& include = view.include;
  auto limits = file_limits_for(a.llm.context_window);
  json::object_writer w(out);
  w.add("created_by_id", a.created_by_id)
      .add("last_updated_by_id", a.last_updated_by_id)
      .add("created_at", a.created_at)
      .add("updated_at", view.activity.updated_at)
      .add("id", a.id)
      .add("name", a.name)
      .add("tool_rules", a.tool_rules)
      .add("message_ids", view.in_context)
      .add("system", a.system)
      .add("agent_type", a.type)
      .add("llm_config", a.llm)
      .add("embedding_config", a.embedding)
      .add("model", a.llm.handle);
  if (a.embedding)
    w.add("embedding", a.embedding->handle);
  else
    w.null("embedding");
  w.add("model_settings", settings_of(a.llm))
      .add("compaction_settings", a.compaction)
      .add("response_format", a.response_format)
      .add("description", a.description)
      .add("metadata", a.metadata);
  write_memory(w.key("memory"), a.type, when(include.blocks, view.blocks));
  write_blocks(w.key("blocks"), when(include.blocks, view.blocks));
  w.add("tools", when(include.tools, view.tools))
      .raw("sources", "[]")
      .add("tags", when(include.tags, a.tags));
  write_secrets(w.key("tool_exec_environment_variables"), a, include.secrets);
  write_secrets(w.key("secrets"), a, include.secrets);
  w.add("project_id", a.project_id)
      .add("template_id", a.template_id)
      .add("base_template_id", a.base_template_id)
      .add("deployment_id", a.deployment_id)
      .add("entity_id", a.entity_id)
      .add("identity_ids", when(include.identities, a.identity_ids))
      .add("identities", when(include.identities, view.identities))
      .raw("pending_approval", include.pending_approval ? std::string_view(view.pending_approval) : "null")
      .add("message_buffer_autoclear", a.message_buffer_autoclear)
      .add("enable_sleeptime", a.enable_sleeptime)
      .raw("multi_agent_group", view.managed_group)
      .raw("managed_group", view.managed_group)
      .add("last_run_completion", view.activity.last_run_completion)
      .add("last_run_duration_ms", view.activity.last_run_duration_ms)
      .add("last_stop_reason", view.activity.last_stop_reason)
      .add("timezone", a.timezone)
      .add("max_files_open", a.max_files_open.value_or(limits.max_files_open))
      .add("per_file_view_window_char_limit", a.per_file_view_window_char_limit.value_or(limits.view_chars))
      .add("hidden", a.hidden);
}

} // namespace troupe
