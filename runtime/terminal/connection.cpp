#include "runtime/terminal/connection.hpp"

#include "core/protocol/sse.hpp"

#include <optional>

namespace troupe::runtime {

result<json::value> connection::ask(std::string method, const std::string& path, std::string body) {
  std::optional<result<json::value>> answer;
  client_->start(request(std::move(method), path, std::move(body)), nullptr,
                 [&](auto a) { answer = read(a); });
  io_.restart();
  io_.run();
  return answer ? std::move(*answer) : result<json::value>(fail(errc::unavailable, "no answer"));
}

result<void> connection::stream(const std::string& path, std::string body,
                                const std::function<void(std::string_view data)>& event) {
  sse_splitter events;
  std::optional<result<json::value>> failed;
  auto on_event = [&](std::string_view, std::string_view data) { event(data); };
  client_->start(
      request("POST", path, std::move(body)), [&](std::string_view bytes) { events.feed(bytes, on_event); },
      [&](auto a) {
        if (!a || a->status != 200) failed = read(a);
      });
  io_.restart();
  io_.run();
  events.finish(on_event);
  if (failed && !*failed) return failed->error();
  return {};
}

net::client_request connection::request(std::string method, const std::string& path, std::string body) const {
  net::client_request q;
  q.method = std::move(method);
  q.url = to_.url + path;
  q.body = std::make_shared<const std::string>(std::move(body));
  q.headers.emplace_back("Content-Type: application/json");
  if (!to_.password.empty()) q.headers.push_back("Authorization: Bearer " + to_.password);
  return q;
}

result<json::value>
connection::read(const boost::system::result<net::client_answer, net::client_failure>& a) const {
  if (!a)
    return fail(errc::unavailable, "no server answers at " + to_.url + ": start one with `troupe serve` (" +
                                       a.error().message + ")");
  auto v = json::try_parse(a->body);
  if (a->status == 401)
    return fail(errc::unauthorized,
                "the server asks for a password: give it with --password or LETTA_SERVER_PASSWORD");
  if (a->status >= 400)
    return fail(errc::invalid_argument,
                "the server refused (" + std::to_string(a->status) + "): " + (v ? json::print(*v) : a->body));
  if (!v) return fail(errc::unavailable, to_.url + " is no server of this API");
  return std::move(*v);
}

const json::array& items_of(const json::value& list) {
  static const json::array none;
  auto* items = list.if_array();
  return items ? *items : none;
}

std::string message_body(const std::string& text) {
  json::object body, message;
  message["role"] = "user";
  message["content"] = boost::json::string(text);
  body["messages"] = json::array{std::move(message)};
  body["stream_tokens"] = true;
  return json::print(json::value(std::move(body)));
}

} // namespace troupe::runtime
