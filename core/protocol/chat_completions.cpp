#include "core/protocol/chat_completions.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe::chat_completions {

namespace {

// -- requests -------------------------------------------------------------------------------------
bool read_number(json::reader& r, const json::object& o, const char* name, double least, double most,
                 const char* least_text, const char* most_text) {
  auto* v = json::find(o, name);
  if (!v || v->is_null()) return true;
  json::reader::scope at(r, name);
  double number = 0;
  if (!json::read(r, *v, number)) return false;
  auto bound = [](const char* text) { return std::string(text) + ".0}"; };
  if (number < least)
    return r.fail("greater_than_equal", std::string("Input should be greater than or equal to ") + least_text,
                  *v, "{'ge': " + bound(least_text));
  if (number > most)
    return r.fail("less_than_equal", std::string("Input should be less than or equal to ") + most_text, *v,
                  "{'le': " + bound(most_text));
  return true;
}

template <class T> bool read_member(json::reader& r, const json::object& o, const char* name, T& out) {
  auto* v = json::find(o, name);
  if (!v || v->is_null()) return true;
  json::reader::scope at(r, name);
  return json::read(r, *v, out);
}

template <class T> bool read_required(json::reader& r, const json::object& o, const char* name, T& out) {
  json::reader::scope at(r, name);
  auto* v = json::find(o, name);
  return v ? json::read(r, *v, out) : r.fail("missing", "Field required", json::value(o));
}

bool check_role(json::reader& r, const json::object& message) {
  static const std::vector<std::string_view> roles{"developer", "system", "user",
                                                   "assistant", "tool",   "function"};
  json::reader::scope at(r, "role");
  auto* role = json::find(message, "role");
  if (!role) return r.fail("missing", "Field required", json::value(message));
  if (role->is_string() &&
      std::find(roles.begin(), roles.end(), json::view(role->get_string())) != roles.end())
    return true;
  auto expected = json::alternatives(roles);
  return r.fail("literal_error", "Input should be " + expected, *role,
                "{'expected': " + json::python_repr(std::string_view{expected}) + "}");
}

// What an assistant or a function says may be nothing; everybody else says something.
bool check_content(json::reader& r, const json::object& message) {
  auto role = json::string_or(message, "role");
  auto* content = json::find(message, "content");
  bool may_lack = role == "assistant" || role == "function";
  if (content ? content->is_string() || content->is_array() || (may_lack && content->is_null()) : may_lack)
    return true;
  json::reader::scope at(r, "content");
  if (!content) return r.fail("missing", "Field required", json::value(message));
  return r.fail("string_type", "Input should be a valid string", *content);
}

bool check_messages(json::reader& r, const std::vector<json::object>& messages) {
  json::reader::scope list(r, "messages");
  bool good = true;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    json::reader::scope at(r, i);
    good &= check_role(r, messages[i]) && check_content(r, messages[i]);
  }
  return good;
}

bool check_count(json::reader& r, const json::object& o) {
  std::int64_t n = 1;
  if (!read_member(r, o, "n", n)) return false;
  json::reader::scope at(r, "n");
  return n >= 1 || r.fail("greater_than_equal", "Input should be greater than or equal to 1",
                          *json::find(o, "n"), "{'ge': 1}");
}

// A text or a list of texts.
bool check_stop(json::reader& r, const json::object& o) {
  auto* stop = json::find(o, "stop");
  if (!stop || stop->is_null() || stop->is_string()) return true;
  json::reader::scope at(r, "stop");
  if (!stop->is_array()) {
    json::reader::scope as(r, "str");
    r.fail("string_type", "Input should be a valid string", *stop);
  }
  json::reader::scope as(r, "list[str]");
  std::vector<std::string> texts;
  return json::read(r, *stop, texts);
}

// Members that change nothing here, but have to be what they are.
bool check_unused(json::reader& r, const json::object& o) {
  std::int64_t most_tokens = 0;
  std::string user;
  bool good = check_count(r, o);
  good &= check_stop(r, o);
  good &= read_member(r, o, "max_tokens", most_tokens);
  return good & read_member(r, o, "user", user);
}

// {"type":"text","text"} and {"type":"image_url","image_url":{"url","detail"}}.
std::optional<content_part> part_of(const json::value& part) {
  auto type = json::string_or(part, "type");
  if (type == "text") return text_content{std::string(json::string_or(part, "text")), std::nullopt};
  auto* image = type == "image_url" ? json::find(part, "image_url") : nullptr;
  if (!image) return std::nullopt;
  image_content out;
  out.source_type = "url";
  out.url = std::string(json::string_or(*image, "url"));
  if (auto detail = json::string_or(*image, "detail"); !detail.empty()) out.detail = std::string(detail);
  return out;
}

} // namespace

bool request::read_json(json::reader& r, const json::value& v, request& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = read_required(r, *o, "model", out.model);
  good &= read_required(r, *o, "messages", out.messages) && check_messages(r, out.messages);
  good &= read_number(r, *o, "temperature", 0, 2, "0", "2");
  good &= read_number(r, *o, "top_p", 0, 1, "0", "1");
  good &= read_member(r, *o, "stream", out.stream);
  good &= read_number(r, *o, "presence_penalty", -2, 2, "-2", "2");
  good &= read_number(r, *o, "frequency_penalty", -2, 2, "-2", "2");
  good &= check_unused(r, *o);
  if (auto* options = json::find(*o, "stream_options"))
    if (auto* usage = json::find(*options, "include_usage"); usage && usage->is_bool())
      out.include_usage = usage->get_bool();
  return good;
}

result<message_create> last_user_message(const request& q) {
  for (auto it = q.messages.rbegin(); it != q.messages.rend(); ++it) {
    if (json::string_or(*it, "role") != "user") continue;
    message_create out;
    auto* content = json::find(*it, "content");
    if (content && content->is_string())
      out.content.emplace_back(text_content{std::string(json::view(content->get_string())), std::nullopt});
    else if (content && content->is_array())
      for (auto& item : content->get_array())
        if (auto part = part_of(item)) out.content.push_back(std::move(*part));
    if (!out.content.empty()) return out;
  }
  return invalid_argument(
      "No user message found in the request. Please include at least one message with role='user'.");
}

// -- answers --------------------------------------------------------------------------------------
namespace {

std::string_view finish_reason(std::string_view stop_reason) {
  return stop_reason == "max_steps" || stop_reason == "max_tokens_exceeded" ? "length" : "stop";
}

void write_usage(json::object_writer& w, const json::value& usage) {
  json::object_writer(w.key("usage"))
      .add("completion_tokens", json::int_or(usage, "completion_tokens", 0))
      .add("prompt_tokens", json::int_or(usage, "prompt_tokens", 0))
      .add("total_tokens", json::int_or(usage, "total_tokens", 0))
      .null("completion_tokens_details")
      .null("prompt_tokens_details");
}

template <class F>
std::string object_of(const heading& head, std::string_view kind, const json::value* usage,
                      F&& write_choices) {
  return json::object_text([&](json::object_writer& w) {
    w.add("id", head.id);
    write_choices(w.key("choices"));
    w.add("created", head.created.us / 1'000'000).add("model", head.model).add("object", kind);
    w.null("service_tier").null("system_fingerprint");
    if (usage)
      write_usage(w, *usage);
    else
      w.null("usage");
  });
}

void write_delta(std::string& out, const json::value& content, bool first) {
  json::object_writer delta(out);
  delta.add("content", content).null("function_call").null("refusal");
  first ? delta.add("role", "assistant") : delta.null("role");
  delta.null("tool_calls");
}

constexpr std::string_view chunk_kind = "chat.completion.chunk";

// Two messages of one turn are two paragraphs.
constexpr const char* paragraph = "\n\n";

} // namespace

std::string chunk_writer::chunk(const json::value& content, bool first,
                                std::optional<std::string_view> reason) const {
  return object_of(head_, chunk_kind, nullptr, [&](std::string& out) {
    out.push_back('[');
    {
      json::object_writer choice(out);
      write_delta(choice.key("delta"), content, first);
      choice.add("finish_reason", reason).add("index", 0).null("logprobs");
    }
    out.push_back(']');
  });
}

void chunk_writer::say(std::string_view message, const json::value& content, std::vector<std::string>& out) {
  if (!content.is_string() || content.get_string().empty()) return;
  json::value piece = content;
  if (began_ && message != speaking_)
    piece = boost::json::string(paragraph + std::string(json::view(content.get_string())));
  speaking_ = message;
  out.push_back(chunk(piece, !std::exchange(began_, true), std::nullopt));
}

void chunk_writer::next(std::string_view event, std::vector<std::string>& out) {
  if (event.starts_with("[DONE]") || ended_) return;
  auto parsed = json::try_parse(event);
  if (!parsed) return;
  if (auto run = json::string_or(*parsed, "run_id"); !run.empty() && head_.id.empty())
    head_.id = "chatcmpl-" + std::string(run);
  auto type = json::string_or(*parsed, "message_type");
  if (type == "assistant_message") {
    if (auto* content = json::find(*parsed, "content")) say(json::string_or(*parsed, "id"), *content, out);
  } else if (type == "error_message") {
    failed_ = ended_ = true;
    json::object inner;
    inner["message"] =
        boost::json::string(json::string_or(*parsed, "detail", json::string_or(*parsed, "message")));
    inner["type"] = boost::json::string(json::string_or(*parsed, "error_type", "server_error"));
    json::object body;
    body["error"] = std::move(inner);
    out.push_back(json::print(json::value(std::move(body))));
  } else if (type == "stop_reason") {
    reason_ = json::string_or(*parsed, "stop_reason");
  } else if (type == "usage_statistics" && include_usage_) {
    usage_ = std::move(*parsed);
  }
}

void chunk_writer::finish(std::vector<std::string>& out) {
  if (failed_) return;
  ended_ = true;
  out.push_back(chunk(json::value{}, !std::exchange(began_, true), finish_reason(reason_)));
  if (usage_) out.push_back(object_of(head_, chunk_kind, &*usage_, [](std::string& s) { s += "[]"; }));
  out.emplace_back("[DONE]");
}

std::string completion(const json::value& answer, heading head) {
  std::string text;
  if (auto* messages = json::find(answer, "messages"); messages && messages->is_array())
    for (auto& m : messages->get_array()) {
      if (auto run = json::string_or(m, "run_id"); !run.empty()) head.id = "chatcmpl-" + std::string(run);
      if (json::string_or(m, "message_type") != "assistant_message") continue;
      if (!text.empty()) text += paragraph;
      text += json::string_or(m, "content");
    }
  auto* stop = json::find(answer, "stop_reason");
  auto reason = finish_reason(stop ? json::string_or(*stop, "stop_reason") : std::string_view{});
  auto* usage = json::find(answer, "usage");
  return object_of(head, "chat.completion", usage, [&](std::string& out) {
    out.push_back('[');
    {
      json::object_writer choice(out);
      choice.add("finish_reason", reason).add("index", 0).null("logprobs");
      json::object_writer message(choice.key("message"));
      message.add("content", text).null("refusal").add("role", "assistant").null("annotations");
      message.null("audio").null("function_call").null("tool_calls");
    }
    out.push_back(']');
  });
}

} // namespace troupe::chat_completions
