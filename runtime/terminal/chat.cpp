#include "runtime/chat.hpp"

#include "core/json/writer.hpp"
#include "core/protocol/sse.hpp"
#include "net/client/http_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace troupe::runtime {

namespace {

// Prints the events of a stream as they come: thoughts in brackets, calls by name, the answer plain.
class printer {
public:
  explicit printer(std::ostream& out) : out_(out) {}

  void event(std::string_view data) {
    auto v = json::try_parse(data);
    if (!v) return;
    auto type = json::string_or(*v, "message_type");
    if (type == "assistant_message")
      text(answer, json::string_or(*v, "content"));
    else if (type == "reasoning_message")
      text(thought, json::string_or(*v, "reasoning"));
    else if (type == "tool_call_message")
      called(*v);
    else if (type == "tool_return_message")
      line("  = " + std::string(json::string_or(*v, "status")));
    else if (type == "error_message")
      line("error: " + std::string(json::string_or(*v, "detail")));
  }
  void end() { leave(); }

private:
  enum mode { none, answer, thought };

  void text(mode m, std::string_view piece) {
    if (piece.empty()) return;
    if (mode_ != m) {
      leave();
      mode_ = m;
      if (m == thought) out_ << "  [";
    }
    out_ << piece << std::flush;
  }
  void called(const json::value& v) {
    auto* call = json::find(v, "tool_call");
    auto name = call ? json::string_or(*call, "name") : std::string_view{};
    if (!name.empty()) line("  > " + std::string(name));
  }
  void line(const std::string& l) {
    leave();
    out_ << l << std::endl;
  }
  void leave() {
    if (mode_ == thought) out_ << "]";
    if (mode_ != none) out_ << std::endl;
    mode_ = none;
  }

  std::ostream& out_;
  mode mode_ = none;
};

class session {
public:
  session(const chat_options& o, std::ostream& out) : o_(o), out_(out), client_(net::make_http_client(io_)) {}

  // One request to its end.
  result<json::value> ask(std::string method, const std::string& path, std::string body = {}) {
    std::optional<result<json::value>> answer;
    client_->start(request(std::move(method), path, std::move(body)), nullptr,
                   [&](auto a) { answer = read(a); });
    io_.restart();
    io_.run();
    return answer ? std::move(*answer) : result<json::value>(fail(errc::unavailable, "no answer"));
  }

  result<void> send(const std::string& agent, const std::string& text) {
    json::object body, message;
    message["role"] = "user";
    message["content"] = boost::json::string(text);
    body["messages"] = json::array{std::move(message)};
    body["stream_tokens"] = true;
    printer shown(out_);
    sse_splitter events;
    std::optional<result<json::value>> failed;
    auto on_event = [&](std::string_view, std::string_view data) { shown.event(data); };
    client_->start(
        request("POST", "/v1/agents/" + agent + "/messages/stream",
                json::print(json::value(std::move(body)))),
        [&](std::string_view bytes) { events.feed(bytes, on_event); },
        [&](auto a) {
          if (!a || a->status != 200) failed = read(a);
        });
    io_.restart();
    io_.run();
    events.finish(on_event);
    shown.end();
    if (failed && !*failed) return failed->error();
    return {};
  }

private:
  net::client_request request(std::string method, const std::string& path, std::string body) const {
    net::client_request q;
    q.method = std::move(method);
    q.url = o_.url + path;
    q.body = std::make_shared<const std::string>(std::move(body));
    q.headers.emplace_back("Content-Type: application/json");
    if (!o_.password.empty()) q.headers.push_back("Authorization: Bearer " + o_.password);
    return q;
  }

  result<json::value> read(const boost::system::result<net::client_answer, net::client_failure>& a) const {
    if (!a)
      return fail(errc::unavailable, "no server answers at " + o_.url + ": start one with `troupe serve` (" +
                                         a.error().message + ")");
    auto v = json::try_parse(a->body);
    if (a->status == 401)
      return fail(errc::unauthorized,
                  "the server asks for a password: give it with --password or LETTA_SERVER_PASSWORD");
    if (a->status >= 400)
      return fail(errc::invalid_argument, "the server refused (" + std::to_string(a->status) +
                                              "): " + (v ? json::print(*v) : a->body));
    if (!v) return fail(errc::unavailable, o_.url + " is no server of this API");
    return std::move(*v);
  }

  const chat_options& o_;
  std::ostream& out_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::http_client> client_;
};

struct partner {
  std::string id, name, model;
};

partner partner_of(const json::value& agent) {
  return {std::string(json::string_or(agent, "id")), std::string(json::string_or(agent, "name")),
          std::string(json::string_or(agent, "model"))};
}

result<partner> create_partner(session& s, const chat_options& o) {
  auto model = o.model;
  if (model.empty()) {
    auto models = s.ask("GET", "/v1/models/");
    if (!models) return models.error();
    for (auto& m : models->is_array() ? models->get_array() : json::array{})
      if (auto handle = json::string_or(m, "handle"); model.empty() && handle != "letta/letta-free")
        model = handle;
    if (model.empty()) return fail(errc::not_found, "the server has no models: configure a provider");
  }
  json::object human, persona, body;
  human["label"] = "human";
  human["value"] = "";
  persona["label"] = "persona";
  persona["value"] = "I am a helpful companion who remembers.";
  body["memory_blocks"] = json::array{std::move(human), std::move(persona)};
  body["model"] = boost::json::string(model);
  auto made = s.ask("POST", "/v1/agents/", json::print(json::value(std::move(body))));
  if (!made) return made.error();
  return partner_of(*made);
}

result<partner> find_partner(session& s, const chat_options& o) {
  if (o.agent.starts_with("agent-")) {
    auto a = s.ask("GET", "/v1/agents/" + o.agent);
    if (!a) return a.error();
    return partner_of(*a);
  }
  auto all = s.ask("GET", "/v1/agents/?limit=1000");
  if (!all) return all.error();
  for (auto& a : all->is_array() ? all->get_array() : json::array{})
    if (o.agent.empty() || json::string_or(a, "name") == o.agent) return partner_of(a);
  if (!o.agent.empty()) return fail(errc::not_found, "there is no agent named " + o.agent);
  return create_partner(s, o);
}

} // namespace

result<void> chat(const chat_options& options, std::istream& in, std::ostream& out) {
  session s(options, out);
  auto partner = find_partner(s, options);
  if (!partner) return partner.error();
  if (!options.message.empty()) return s.send(partner->id, options.message);
  out << partner->name << " (" << partner->model << ", " << partner->id << "). An empty line or Ctrl-D ends."
      << std::endl;
  for (std::string line; out << "\n> " << std::flush && std::getline(in, line) && !line.empty();)
    if (auto sent = s.send(partner->id, line); !sent) return sent.error();
  out << std::endl;
  return {};
}

} // namespace troupe::runtime
