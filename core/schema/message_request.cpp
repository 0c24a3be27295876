#include "core/schema/message_request.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

std::optional<std::string> otid_of(const input_message& m) {
  return std::visit([](auto& x) { return x.otid; }, m);
}

namespace {

template <class T>
bool member(json::reader& r, const json::object& o, std::string_view name, T& out, bool is_required = false) {
  auto* given = json::find(o, name);
  if (!given && !is_required) return true;
  json::reader::scope at(r, name);
  if (!given) return r.fail("missing", "Field required", json::value(o));
  return json::read(r, *given, out);
}

// A member of the list-or-string kind.
using part_reader = bool (*)(json::reader&, const json::value&, content_part&);

bool read_content(json::reader& r, const json::value& v, std::vector<content_part>& out,
                  part_reader read_part = read_content_part) {
  if (v.is_string()) {
    text_content text;
    if (!json::read(r, v, text.text)) return false;
    out.clear();
    if (!text.text.empty())
      out.emplace_back(std::move(text)); // an empty text is no content: refused later with 400
    return true;
  }
  auto* parts = v.if_array();
  if (!parts) {
    json::reader::scope at(r, "str");
    return r.fail("string_type", "Input should be a valid string", v);
  }
  bool good = true;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    json::reader::scope at(r, i);
    good &= read_part(r, (*parts)[i], out.emplace_back());
  }
  return good;
}

// Any member that is there and has the default spelling is taken; null leaves the default (Optional[...] = default).
template <class T>
bool member_or_default(json::reader& r, const json::object& o, std::string_view name, T& out) {
  auto* given = json::find(o, name);
  return !given || given->is_null() || member(r, o, name, out);
}

bool read_tool_return(json::reader& r, const json::value& v, tool_return& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  std::string call;
  bool good = true;
  {
    json::reader::scope at(r, "tool_return");
    auto* returned = json::find(*o, "tool_return");
    if (!returned)
      good = r.fail("missing", "Field required", v);
    else if (returned->is_string())
      out.func_response = std::string(json::view(returned->get_string()));
    else
      good = read_content(r, *returned, out.func_response.emplace<1>(), read_return_part);
  }
  good &= member(r, *o, "status", out.status, true);
  good &= member(r, *o, "tool_call_id", call, true);
  good &= member(r, *o, "stdout", out.stdout_);
  good &= member(r, *o, "stderr", out.stderr_);
  out.tool_call_id = call;
  return good;
}

bool read_approval_item(json::reader& r, const json::value& v, approval_item& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  auto type = json::string_or(v, "type");
  if (type == "tool") {
    json::reader::scope tag(r, "tool");
    out.is_return = true;
    bool good = read_tool_return(r, v, out.returned);
    out.tool_call_id = out.returned.tool_call_id.value_or("");
    return good;
  }
  if (type != "approval")
    return r.fail(type.empty() ? "union_tag_not_found" : "union_tag_invalid",
                  "Input tag '" + std::string(type) +
                      "' found using 'type' does not match any of the expected tags: 'approval', 'tool'",
                  v, "{'discriminator': \"'type'\"}");
  json::reader::scope tag(r, "approval");
  bool good = member(r, *o, "tool_call_id", out.tool_call_id, true);
  good &= member(r, *o, "approve", out.approve, true);
  return good & member(r, *o, "reason", out.reason);
}

template <class T, class F>
bool read_list(json::reader& r, const json::value& v, std::vector<T>& out, F read_item) {
  auto* items = v.if_array();
  if (!items) return r.fail("list_type", "Input should be a valid list", v);
  bool good = true;
  for (std::size_t i = 0; i < items->size(); ++i) {
    json::reader::scope at(r, i);
    good &= read_item(r, (*items)[i], out.emplace_back());
  }
  return good;
}

bool read_message(json::reader& r, const json::object& o, message_create& out) {
  json::reader::scope tag(r, "MessageCreate");
  bool good = true;
  {
    json::reader::scope at(r, "role");
    auto* role = json::find(o, "role");
    auto word = role && role->is_string() ? json::view(role->get_string()) : std::string_view{};
    constexpr const char* expected =
        "<MessageRole.user: 'user'>, <MessageRole.system: 'system'> or <MessageRole.assistant: 'assistant'>";
    if (!role)
      good = r.fail("missing", "Field required", json::value(o));
    else if (word != "user" && word != "system" && word != "assistant")
      good = r.fail("literal_error", std::string("Input should be ") + expected, *role,
                    "{'expected': " + json::python_repr(std::string_view{expected}) + "}");
    else
      out.role = *json::enum_from<message_role>(word);
  }
  {
    json::reader::scope at(r, "content");
    auto* content = json::find(o, "content");
    good &= content ? read_content(r, *content, out.content)
                    : r.fail("missing", "Field required", json::value(o));
  }
  good &= member(r, o, "name", out.name);
  good &= member(r, o, "otid", out.otid);
  good &= member(r, o, "sender_id", out.sender_id);
  good &= member(r, o, "group_id", out.group_id);
  return good & member(r, o, "batch_item_id", out.batch_item_id);
}

bool read_approval(json::reader& r, const json::object& o, approval_create& out) {
  json::reader::scope tag(r, "ApprovalCreate");
  bool good = true;
  if (auto* items = json::find(o, "approvals"); items && !items->is_null()) {
    json::reader::scope at(r, "approvals");
    good = read_list(r, *items, out.approvals.emplace(), read_approval_item);
  }
  good &= member(r, o, "approve", out.approve);
  good &= member(r, o, "approval_request_id", out.approval_request_id);
  good &= member(r, o, "reason", out.reason);
  good &= member(r, o, "otid", out.otid);
  return good & member(r, o, "group_id", out.group_id);
}

bool read_returns(json::reader& r, const json::object& o, tool_return_create& out) {
  json::reader::scope tag(r, "ToolReturnCreate");
  bool good = true;
  {
    json::reader::scope at(r, "tool_returns");
    auto* items = json::find(o, "tool_returns");
    good = items ? read_list(r, *items, out.tool_returns, read_tool_return)
                 : r.fail("missing", "Field required", json::value(o));
  }
  good &= member(r, o, "otid", out.otid);
  return good & member(r, o, "group_id", out.group_id);
}

bool read_input(json::reader& r, const json::value& v, input_message& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  auto* type = json::find(*o, "type");
  // Without a type, what an approval alone has makes it one; a message may say null.
  std::string_view kind = "message";
  if (type && !type->is_null())
    kind = type->is_string() ? json::view(type->get_string()) : std::string_view{};
  else if (!type && (json::find(*o, "approval_request_id") || json::find(*o, "approve")))
    kind = "approval";
  if (kind == "message") return read_message(r, *o, out.emplace<message_create>());
  if (kind == "approval") return read_approval(r, *o, out.emplace<approval_create>());
  if (kind == "tool_return") return read_returns(r, *o, out.emplace<tool_return_create>());
  return r.fail("literal_error", "Input should be 'message', 'approval' or 'tool_return'",
                type ? *type : json::value(), "{'expected': \"'message', 'approval' or 'tool_return'\"}");
}

// The list as the original's own preparation leaves it: items without a type get one before anything is checked.
json::value with_types(const json::value& v) {
  json::value out = v;
  if (auto* items = json::find(out, "messages"); items && items->is_array())
    for (auto& item : out.get_object()["messages"].get_array())
      if (auto* o = item.if_object(); o && !o->contains("type"))
        (*o)["type"] = o->contains("approval_request_id") || o->contains("approve") ? "approval" : "message";
  return out;
}

bool read_options(json::reader& r, const json::object& o, send_request& out) {
  bool good = member(r, o, "max_steps", out.max_steps);
  good &= member(r, o, "use_assistant_message", out.use_assistant_message);
  good &= member(r, o, "assistant_message_tool_name", out.assistant_message_tool_name);
  good &= member(r, o, "assistant_message_tool_kwarg", out.assistant_message_tool_kwarg);
  good &= member(r, o, "include_return_message_types", out.include_return_message_types);
  good &= member(r, o, "enable_thinking", out.enable_thinking);
  good &= member_or_default(r, o, "client_tools", out.client_tools);
  good &= member_or_default(r, o, "client_skills", out.client_skills);
  good &= member(r, o, "override_model", out.override_model);
  good &= member(r, o, "include_compaction_messages", out.include_compaction_messages);
  good &= member(r, o, "return_logprobs", out.return_logprobs);
  good &= member(r, o, "top_logprobs", out.top_logprobs);
  good &= member(r, o, "return_token_ids", out.return_token_ids);
  // Two names of one member: where both are given, the first counts.
  auto system = json::find(o, "override_system") ? "override_system" : "system";
  good &= member(r, o, system, out.override_system);
  if (out.override_model && out.override_model->empty()) out.override_model.reset();
  return good;
}

bool read_stream_options(json::reader& r, const json::object& o, send_request& out) {
  bool good = true;
  if (json::find(o, "streaming")) good &= member(r, o, "streaming", out.streaming.emplace());
  good &= member(r, o, "stream_tokens", out.stream_tokens);
  good &= member(r, o, "include_pings", out.include_pings);
  return good & member(r, o, "background", out.background);
}

} // namespace

bool send_request::read_json(json::reader& r, const json::value& v, send_request& out) {
  return read_send(r, v, send_model::all, out);
}

bool read_send(json::reader& r, const json::value& v, send_model model, send_request& out) {
  auto has = [&](std::initializer_list<send_model> models) {
    return model == send_model::all || std::find(models.begin(), models.end(), model) != models.end();
  };
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = true;
  auto* messages = json::find(*o, "messages");
  auto* input = json::find(*o, "input");
  out.has_messages = messages && !messages->is_null();
  bool has_input = input && !input->is_null();
  if (out.has_messages) {
    json::reader::scope at(r, "messages");
    good &= read_list(r, *messages, out.messages, read_input);
  }
  if (has_input) {
    json::reader::scope at(r, "input");
    message_create m;
    good &= read_content(r, *input, m.content);
    if (!out.has_messages) out.messages.emplace_back(std::move(m));
  }
  good &= read_options(r, *o, out);
  if (has({send_model::streaming, send_model::conversation})) good &= read_stream_options(r, *o, out);
  if (has({send_model::async})) good &= member(r, *o, "callback_url", out.callback_url);
  if (has({send_model::conversation})) good &= member(r, *o, "agent_id", out.agent_id_text);
  if (!good) return false;
  if (!out.has_messages && !has_input) return r.fail_value("Must specify either 'input' or 'messages'.", v);
  if (out.has_messages && has_input)
    return r.fail_value("Cannot specify both 'input' and 'messages'. Use one or the other.", with_types(v));
  return true;
}

} // namespace troupe
