#include "core/schema/message.hpp"

#include "core/json/writer.hpp"

namespace troupe {

namespace {

void write_image(std::string& out, const image_content& image) {
  json::object_writer w(out);
  w.add("type", "image");
  json::object_writer source(w.key("source"));
  source.add("type", image.source_type);
  if (image.source_type == "url") {
    source.add("url", image.url);
    return;
  }
  if (image.source_type == "letta") source.add("file_id", image.file_id_);
  source.add("media_type", image.media_type).add("data", image.data).add("detail", image.detail);
}

bool read_image(json::reader& r, const json::object& o, image_content& out) {
  json::reader::scope tag(r, "image");
  auto* source = json::find(o, "source");
  json::reader::scope at(r, "source");
  if (!source) return r.fail("missing", "Field required", json::value(o));
  auto* fields = json::fields_of(r, *source);
  if (!fields) return false;
  out.source_type = std::string(json::string_or(*source, "type"));
  if (out.source_type != "url" && out.source_type != "base64" && out.source_type != "letta")
    return r.fail(
        "union_tag_invalid",
        "Input tag '" + out.source_type +
            "' found using 'type' does not match any of the expected tags: 'url', 'base64', 'letta'",
        *source, "{'discriminator': \"'type'\"}");
  json::reader::scope kind(r, out.source_type);
  auto text = [&](const char* name, std::optional<std::string>& member, bool is_required) {
    auto* given = json::find(*fields, name);
    json::reader::scope here(r, name);
    if (!given) return !is_required || r.fail("missing", "Field required", *source);
    return json::read(r, *given, member);
  };
  bool good = text("url", out.url, out.source_type == "url");
  good &= text("media_type", out.media_type, out.source_type == "base64");
  good &= text("data", out.data, out.source_type == "base64");
  good &= text("detail", out.detail, false);
  if (auto* file = json::find(*fields, "file_id"); file && file->is_string())
    out.file_id_ = file_id::parse(json::view(file->get_string()));
  return good;
}

bool read_text(json::reader& r, const json::value& v, text_content& out) {
  json::reader::scope tag(r, "text");
  auto* text = json::find(v, "text");
  {
    json::reader::scope at(r, "text");
    if (!text) return r.fail("missing", "Field required", v);
    if (!json::read(r, *text, out.text)) return false;
  }
  auto* signature = json::find(v, "signature");
  json::reader::scope at(r, "signature");
  return !signature || json::read(r, *signature, out.signature);
}

struct part_writer {
  std::string& out;
  void operator()(const text_content& p) const {
    json::object_writer(out).add("type", "text").add("text", p.text).add("signature", p.signature);
  }
  void operator()(const image_content& p) const { write_image(out, p); }
  void operator()(const reasoning_content& p) const {
    json::object_writer(out)
        .add("type", "reasoning")
        .add("is_native", p.is_native)
        .add("reasoning", p.reasoning)
        .add("signature", p.signature);
  }
  void operator()(const redacted_reasoning_content& p) const {
    json::object_writer(out).add("type", "redacted_reasoning").add("data", p.data);
  }
  void operator()(const omitted_reasoning_content& p) const {
    json::object_writer(out).add("type", "omitted_reasoning").add("signature", p.signature);
  }
  void operator()(const summarized_reasoning_content& p) const {
    json::object_writer(out)
        .add("type", "summarized_reasoning")
        .add("id", p.id)
        .add("summary", p.summary)
        .add("encrypted_content", p.encrypted_content);
  }
  void operator()(const other_content& p) const { json::write(out, p.part); }
};

void write_parts(std::string& out, const std::vector<content_part>& parts) {
  json::write_list(out, parts, write_content_part);
}

void write_calls(std::string& out, const std::vector<tool_call>& calls) {
  if (calls.empty()) {
    out += "null";
    return;
  }
  json::write_list(out, calls, [](std::string& list, const tool_call& c) {
    json::object_writer w(list);
    w.add("id", c.id);
    json::object_writer(w.key("function")).add("arguments", c.arguments).add("name", c.name);
    w.add("type", "function");
  });
}

void write_return(std::string& out, const tool_return& r) {
  json::object_writer w(out);
  w.add("tool_call_id", r.tool_call_id)
      .add("status", r.status)
      .add("stdout", r.stdout_)
      .add("stderr", r.stderr_);
  auto& text = w.key("func_response");
  if (auto* packed = std::get_if<std::string>(&r.func_response))
    json::write(text, *packed);
  else
    write_parts(text, std::get<1>(r.func_response));
}

void write_approval(std::string& out, const approval_item& a) {
  if (a.is_return) return write_return(out, a.returned);
  json::object_writer(out)
      .add("type", "approval")
      .add("tool_call_id", a.tool_call_id)
      .add("approve", a.approve)
      .add("reason", a.reason);
}

} // namespace

void write_content_part(std::string& out, const content_part& part) { std::visit(part_writer{out}, part); }

namespace {

// What the parts without effect must have; each is read as the kind that its value here has.
struct part_shape {
  std::string_view type;
  std::vector<
      std::pair<const char*, std::variant<std::string, bool, json::object, std::vector<summary_part>>>>
      required;
  std::vector<const char*> optional_texts;
};

const std::vector<part_shape>& part_shapes() {
  using summary = std::vector<summary_part>;
  static const std::vector<part_shape> shapes{
      {"tool_call", {{"id", ""}, {"name", ""}, {"input", json::object{}}}, {"signature"}},
      {"tool_return", {{"tool_call_id", ""}, {"content", ""}, {"is_error", false}}, {}},
      {"reasoning", {{"is_native", false}, {"reasoning", ""}}, {"signature"}},
      {"redacted_reasoning", {{"data", ""}}, {}},
      {"omitted_reasoning", {}, {"signature"}},
      {"summarized_reasoning", {{"id", ""}, {"summary", summary{}}}, {}},
  };
  return shapes;
}

bool read_other(json::reader& r, const json::object& o, const part_shape& shape, other_content& out) {
  json::reader::scope tag(r, shape.type);
  bool good = true;
  for (auto& [name, kind] : shape.required) {
    json::reader::scope at(r, name);
    auto* given = json::find(o, name);
    auto read = [&](auto like) { return json::read(r, *given, like); };
    good &= given ? std::visit(read, kind) : r.fail("missing", "Field required", json::value(o));
  }
  for (auto* name : shape.optional_texts) {
    json::reader::scope at(r, name);
    std::optional<std::string> text;
    if (auto* given = json::find(o, name)) good &= json::read(r, *given, text);
  }
  out.part = o;
  return good;
}

bool read_part(json::reader& r, const json::value& v, bool is_return, content_part& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  auto type = json::string_or(v, "type");
  if (type == "text") return read_text(r, v, out.emplace<text_content>());
  if (type == "image") return read_image(r, *o, out.emplace<image_content>());
  std::string expected = "'text', 'image'";
  for (auto& shape : part_shapes()) {
    if (is_return) break;
    if (type == shape.type) return read_other(r, *o, shape, out.emplace<other_content>());
    expected.append(", '").append(shape.type).append("'");
  }
  return r.fail("union_tag_invalid",
                "Input tag '" + std::string(type) +
                    "' found using 'type' does not match any of the expected tags: " + expected,
                v, "{'discriminator': \"'type'\", 'tag': " + json::python_repr(type) + "}");
}

} // namespace

bool read_content_part(json::reader& r, const json::value& v, content_part& out) {
  return read_part(r, v, false, out);
}

bool read_return_part(json::reader& r, const json::value& v, content_part& out) {
  return read_part(r, v, true, out);
}

void message::write_json(std::string& out, const message& m) {
  json::object_writer w(out);
  w.add("created_by_id", m.created_by_id)
      .add("last_updated_by_id", m.last_updated_by_id)
      .add("created_at", m.created_at)
      .add("updated_at", m.updated_at)
      .add("id", m.id)
      .add("agent_id", m.agent)
      .add("model", m.model)
      .add("role", m.role);
  write_parts(w.key("content"), m.content);
  w.add("name", m.name);
  write_calls(w.key("tool_calls"), m.tool_calls);
  w.add("tool_call_id", m.tool_call_id).add("step_id", m.step).add("run_id", m.run).add("otid", m.otid);
  json::write_list(w.key("tool_returns"), m.tool_returns, write_return);
  w.add("group_id", m.group)
      .add("sender_id", m.sender_id)
      .add("batch_item_id", m.batch_item_id)
      .add("conversation_id", m.conversation);
  if (m.is_err)
    w.add("is_err", true);
  else
    w.null("is_err");
  w.add("approval_request_id", m.approval_request_id)
      .add("approve", m.approve)
      .add("denial_reason", m.denial_reason);
  json::write_list(w.key("approvals"), m.approvals, write_approval);
}

std::string text_of(const message& m) {
  std::string out;
  for (auto& part : m.content)
    if (auto* t = std::get_if<text_content>(&part)) out += t->text;
  return out;
}

} // namespace troupe
