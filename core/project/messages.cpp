#include "core/project/messages.hpp"

#include "core/json/writer.hpp"
#include "core/tools/packaging.hpp"

#include <algorithm>
#include <set>

namespace troupe::project {

std::string otid(const message_id& id, unsigned index) {
  uuid u = id.value;
  u.bytes[15] = static_cast<std::uint8_t>((u.bytes[15] & 0x80) | (index & 0x7f));
  return u.str();
}

namespace {

// Builds the API messages of one stored message.
class projector {
public:
  projector(std::vector<api_message>& out, const message& m, const options& o)
      : out_(out), m_(m), o_(o), first_(out.size()) {}

  void run() {
    switch (m_.role) {
    case message_role::assistant:
      parts();
      calls();
      break;
    case message_role::tool:
    case message_role::function: returns(); break;
    case message_role::user:
    case message_role::summary: user(); break;
    case message_role::system:
      stored(message_type::system_message, [&](json::object_writer& w) { w.add("content", text_of(m_)); });
      break;
    case message_role::approval: is_approval_request(m_) ? request() : response(); break;
    }
    if (o_.reverse) std::reverse(out_.begin() + static_cast<std::ptrdiff_t>(first_), out_.end());
  }

private:
  // One message with the otid of the next part.
  template <class F> void part(message_type type, F members) {
    auto index = static_cast<unsigned>(out_.size() - first_);
    add(type, otid(m_.id, index), members, true);
  }
  // One message with the otid that was stored.
  template <class F> void stored(message_type type, F members) {
    add(type, m_.otid, members, m_.role != message_role::system);
  }

  template <class F>
  void add(message_type type, const std::optional<std::string>& otid, F members, bool with_error) {
    auto& message = out_.emplace_back(api_message{type, m_.id, {}});
    json::object_writer w(message.body);
    bool answer = type == message_type::approval_response_message; // carries neither step nor sender
    w.add("id", m_.id)
        .raw("date", "\"" + format_date(m_.created_at) + "\"")
        .add("name", m_.name)
        .add("message_type", type)
        .add("otid", otid);
    answer ? w.null("sender_id").null("step_id") : w.add("sender_id", m_.sender_id).add("step_id", m_.step);
    if (with_error && m_.is_err)
      w.add("is_err", true);
    else
      w.null("is_err");
    w.null("seq_id").add("run_id", o_.run ? o_.run : m_.run);
    members(w);
  }

  void reasoning(std::string_view source, const std::string& text,
                 const std::optional<std::string>& signature) {
    part(message_type::reasoning_message, [&](json::object_writer& w) {
      w.add("source", source).add("reasoning", text).add("signature", signature);
    });
  }

  void parts() {
    for (std::size_t i = 0; i < m_.content.size(); ++i) {
      auto& c = m_.content[i];
      if (auto* t = std::get_if<text_content>(&c)) {
        if (!o_.text_is_assistant_message) {
          reasoning("non_reasoner_model", t->text, std::nullopt);
          continue;
        }
        std::string all = t->text; // neighbouring texts are one message
        while (i + 1 < m_.content.size() && std::holds_alternative<text_content>(m_.content[i + 1]))
          all += std::get<text_content>(m_.content[++i]).text;
        part(message_type::assistant_message, [&](json::object_writer& w) { w.add("content", all); });
      } else if (auto* r = std::get_if<reasoning_content>(&c)) {
        std::string all = r->reasoning;
        while (i + 1 < m_.content.size() && std::holds_alternative<reasoning_content>(m_.content[i + 1]))
          all += std::get<reasoning_content>(m_.content[++i]).reasoning;
        reasoning("reasoner_model", all, r->signature);
      } else if (auto* s = std::get_if<summarized_reasoning_content>(&c)) {
        std::string all;
        for (auto& p : s->summary) all.append(all.empty() ? "" : "\n\n").append(p.text);
        if (!all.empty()) reasoning("reasoner_model", all, s->encrypted_content);
      } else if (auto* hidden = std::get_if<redacted_reasoning_content>(&c)) {
        part(message_type::hidden_reasoning_message, [&](json::object_writer& w) {
          w.add("state", "redacted").add("hidden_reasoning", hidden->data);
        });
      } else if (std::holds_alternative<omitted_reasoning_content>(c)) {
        part(message_type::hidden_reasoning_message,
             [&](json::object_writer& w) { w.add("state", "omitted").null("hidden_reasoning"); });
      }
    }
  }

  static void write_call(std::string& out, const tool_call& c) {
    json::object_writer(out).add("name", c.name).add("arguments", c.arguments).add("tool_call_id", c.id);
  }
  static void write_calls(json::object_writer& w, const std::vector<const tool_call*>& calls) {
    write_call(w.key("tool_call"), *calls.front());
    json::write_list(w.key("tool_calls"), calls,
                     [](std::string& list, const tool_call* c) { write_call(list, *c); });
  }

  void calls() {
    std::vector<const tool_call*> batch;
    auto flush = [&] {
      if (!batch.empty())
        part(message_type::tool_call_message, [&](json::object_writer& w) { write_calls(w, batch); });
      batch.clear();
    };
    for (auto& call : m_.tool_calls) {
      if (o_.use_assistant_message && call.name == o_.assistant_message_tool_name) {
        flush();
        said(call);
      } else {
        batch.push_back(&call);
      }
    }
    flush();
  }

  // A call of the message tool, as the text that it sends. Without that argument there is nothing to show.
  void said(const tool_call& call) {
    auto args = json::try_parse(call.arguments);
    auto* text = args ? json::find(*args, o_.assistant_message_tool_kwarg) : nullptr;
    if (!text) return;
    auto content =
        text->is_string() ? std::string(json::view(text->get_string())) : json::print_python(*text);
    part(message_type::assistant_message, [&](json::object_writer& w) { w.add("content", content); });
  }

  struct shown_return {
    std::string text;
    return_status status = return_status::success;
    const std::vector<content_part>* parts = nullptr;
  };

  static shown_return show(const tool_return& r) {
    shown_return s;
    if (auto* packed = std::get_if<std::string>(&r.func_response)) {
      if (auto u = tools::unpack_result(*packed)) {
        s.text = u->message;
        s.status = u->status;
      } else {
        s.text = *packed;
        s.status = r.status;
      }
      return s;
    }
    s.parts = &std::get<1>(r.func_response);
    for (auto& p : *s.parts) {
      if (!s.text.empty()) s.text += "\n";
      if (auto* t = std::get_if<text_content>(&p))
        s.text += t->text;
      else
        s.text += "[Image omitted]";
    }
    return s;
  }

  void returns() {
    std::vector<shown_return> shown;
    for (auto& r : m_.tool_returns) shown.push_back(show(r));
    if (shown.empty()) return;
    part(message_type::tool_return_message, [&](json::object_writer& w) {
      auto& r = m_.tool_returns.front();
      w.add("tool_return", shown[0].text)
          .add("status", shown[0].status)
          .add("tool_call_id", r.tool_call_id.value_or(""))
          .add("stdout", r.stdout_)
          .add("stderr", r.stderr_);
      auto& list = w.key("tool_returns");
      list.push_back('[');
      for (std::size_t i = 0; i < shown.size(); ++i) {
        if (i) list.push_back(',');
        write_return(list, m_.tool_returns[i], shown[i]);
      }
      list.push_back(']');
    });
  }

  static void write_return(std::string& out, const tool_return& r, const shown_return& s) {
    json::object_writer w(out);
    w.add("type", "tool");
    if (s.parts)
      write_parts(w.key("tool_return"), *s.parts);
    else
      w.add("tool_return", s.text);
    w.add("status", s.status)
        .add("tool_call_id", r.tool_call_id.value_or(""))
        .add("stdout", r.stdout_)
        .add("stderr", r.stderr_);
  }

  static void write_parts(std::string& out, const std::vector<content_part>& parts) {
    json::write_list(out, parts, write_content_part);
  }

  void user() {
    stored(message_type::user_message, [&](json::object_writer& w) {
      auto* only = m_.content.size() == 1 ? std::get_if<text_content>(m_.content.data()) : nullptr;
      if (!only) {
        write_parts(w.key("content"), m_.content);
        return;
      }
      w.add("content", unwrapped(only->text));
    });
  }

  // A user's text that was packed with its time is shown without that.
  static std::string unwrapped(const std::string& text) {
    if (!text.starts_with('{')) return text;
    auto v = json::try_parse(text);
    if (!v || json::string_or(*v, "type") != "user_message") return text;
    auto* inner = json::find(*v, "message");
    return inner ? json::python_str(*inner) : text;
  }

  void request() {
    parts();
    std::vector<const tool_call*> asked;
    for (auto& call : m_.tool_calls) asked.push_back(&call);
    stored(message_type::approval_request_message, [&](json::object_writer& w) { write_calls(w, asked); });
  }

  static void write_answer(std::string& out, const approval_item& a) {
    if (a.is_return) {
      auto shown = show(a.returned);
      shown.parts = nullptr; // here parts are one text
      return write_return(out, a.returned, shown);
    }
    json::object_writer(out)
        .add("type", "approval")
        .add("tool_call_id", a.tool_call_id)
        .add("approve", a.approve)
        .add("reason", a.reason);
  }

  void response() {
    stored(message_type::approval_response_message, [&](json::object_writer& w) {
      json::write_list(w.key("approvals"), m_.approvals, write_answer);
      auto decision =
          std::find_if(m_.approvals.begin(), m_.approvals.end(), [](auto& a) { return !a.is_return; });
      if (decision == m_.approvals.end())
        w.null("approve").null("approval_request_id").null("reason");
      else
        w.add("approve", decision->approve)
            .add("approval_request_id", decision->tool_call_id)
            .add("reason", decision->reason);
    });
  }

  std::vector<api_message>& out_;
  const message& m_;
  const options& o_;
  std::size_t first_;
};

} // namespace

void write_head(json::object_writer& w, const message_head& h) {
  w.add("id", h.id)
      .raw("date", "\"" + format_date(h.date) + "\"")
      .add("name", h.name)
      .add("message_type", h.type)
      .add("otid", h.otid)
      .null("sender_id")
      .add("step_id", h.step)
      .null("is_err")
      .add("seq_id", h.seq_id)
      .add("run_id", h.run);
}

void project(std::vector<api_message>& out, const message& m, const options& o) {
  projector(out, m, o).run();
}

std::vector<api_message> project_list(const std::vector<stored_message>& messages, const options& o) {
  std::set<std::string> answered_by_text; // ids of calls that show as assistant messages
  if (o.use_assistant_message)
    for (auto& m : messages)
      if (m->role == message_role::assistant &&
          std::any_of(m->tool_calls.begin(), m->tool_calls.end(),
                      [&](auto& c) { return c.name == o.assistant_message_tool_name; }))
        for (auto& c : m->tool_calls) answered_by_text.insert(c.id);
  std::vector<api_message> out;
  for (auto& m : messages) {
    if (m->role == message_role::tool && m->tool_call_id && answered_by_text.contains(*m->tool_call_id))
      continue;
    project(out, *m, o);
  }
  return out;
}

std::string to_array(const std::vector<api_message>& messages,
                     const std::optional<std::vector<message_type>>& types) {
  std::string out = "[";
  for (auto& m : messages) {
    if (types && std::find(types->begin(), types->end(), m.type) == types->end()) continue;
    if (out.size() > 1) out.push_back(',');
    out += m.body;
  }
  return out + "]";
}

} // namespace troupe::project
