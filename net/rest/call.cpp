#include "net/rest/call.hpp"

#include "core/json/count.hpp"

namespace troupe::net::rest {

std::string_view call::path_value(std::string_view name) const {
  for (auto& [key, value] : values)
    if (key == name) return value;
  return {};
}

std::optional<std::string> call::project() const {
  auto v = request.header("x-project-id");
  return v.empty() ? std::nullopt : std::optional(std::string(v));
}

namespace {

constexpr std::string_view uuid4_pattern =
    "-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

json::field_error path_error(std::string_view name, std::string_view given) {
  json::field_error e;
  e.loc = {std::string("path"), std::string(name)};
  e.input = boost::json::string(given);
  return e;
}

} // namespace

// Parameters that are named after the prefix of their ids have an error of their own, with an example.
error bad_path_id(std::string_view name, std::string_view prefix, std::string_view given) {
  if (name != std::string(prefix) + "_id") {
    json::reader r("path");
    json::reader::scope at(r, name);
    json::check_id_text(r, boost::json::string(given), prefix);
    return json::to_error(r.errors());
  }
  auto e = path_error(name, given);
  std::string wanted(prefix);
  e.type = "string_pattern_mismatch";
  e.msg = "String should match pattern '" + wanted + "-{uuid4}'";
  e.ctx = "{'pattern': '^" + wanted + std::string(uuid4_pattern) + "'}";
  auto out = json::to_error({e});
  out.extra["examples"] = json::array{boost::json::string(wanted + "-123e4567-e89b-42d3-8456-426614174000")};
  return out;
}

error bad_id(std::string_view prefix, std::string_view given) {
  std::string kind(prefix);
  return invalid_argument("Invalid " + kind + " ID format: " + std::string(given) + ". Expected format: '" +
                          kind + "-<uuid4>'");
}

awaitable<result<void>> parse_long_body(call& c) {
  constexpr std::size_t long_body = 64 << 10; // a shorter one cannot have too many values
  if (c.request.body.size() < long_body) co_return result<void>{};
  // Shared with the worker: this coroutine may be gone before it is done, when the server stops.
  auto body = std::make_shared<std::string>(std::move(c.request.body));
  auto document = std::make_shared<decltype(c.document)>();
  auto parse = [body, document](const storage::reader&) -> result<std::string> {
    if (json::count_values(*body) > json::most_values)
      return fail(errc::payload_too_large,
                  "Request body has more than " + std::to_string(json::most_values) + " JSON values");
    document->emplace(json::parse(*body));
    return std::string{};
  };
  auto done = co_await read_on_worker(c, std::move(parse));
  if (!done) co_return done.error();
  c.request.body = std::move(*body);
  c.document = std::move(*document);
  co_return result<void>{};
}

result<json::value> body_document(call& c) {
  if (c.request.body.empty()) {
    json::reader r("body");
    r.fail("missing", "Field required", nullptr);
    return json::to_error(r.errors());
  }
  auto parsed = c.document ? *std::exchange(c.document, std::nullopt) : json::parse(c.request.body);
  if (parsed) return std::move(*parsed);
  auto why = parsed.error();
  if (why.unreadable) return fail(errc::invalid_argument, "There was an error parsing the body");
  json::field_error e;
  e.type = "json_invalid";
  e.loc = {std::string("body"), why.position};
  e.msg = "JSON decode error";
  e.input = json::object{};
  e.ctx = "{'error': " + json::python_repr(std::string_view{why.message}) + "}";
  return json::to_error({e});
}

awaitable<outcome> read_on_worker(call& c, std::function<result<std::string>(const storage::reader&)> f) {
  auto& s = c.s;
  auto worker = s.queries[s.next_query++ % s.queries.size()];
  actors::query q{std::move(f)};
  auto body = co_await ask<std::string>(s.self, worker, std::move(q));
  if (!body) co_return body.error();
  co_return http::response::json(std::move(*body));
}

awaitable<result<void>> commit(call& c, std::string name,
                               std::function<result<void>(storage::transaction&)> f) {
  actors::write w{std::move(name), std::move(f)};
  auto done = co_await ask<actors::done>(c.s.self, c.s.store, std::move(w));
  if (!done) co_return done.error();
  co_return result<void>{};
}

awaitable<void> commit_the_rest(call& c) {
  actors::write w{"rest", [](storage::transaction&) { return result<void>{}; },
                  actors::write::when::with_rest};
  [[maybe_unused]] auto done = co_await ask<actors::done>(c.s.self, c.s.store, std::move(w));
}

namespace {

// Wraps a batch that gives a text: the text is where both the writer and the coroutine find it.
actors::write with_body(std::string name, std::function<result<std::string>(storage::transaction&)> f,
                        const std::shared_ptr<std::string>& body) {
  auto apply = [f = std::move(f), body](storage::transaction& t) -> result<void> {
    auto text = f(t);
    if (!text) return text.error();
    *body = std::move(*text);
    return {};
  };
  return {std::move(name), std::move(apply)};
}

outcome body_or_error(const result<actors::done>& done, std::string& body) {
  if (!done) return done.error();
  return http::response::json(std::move(body));
}

} // namespace

awaitable<outcome> write(call& c, std::string name,
                         std::function<result<std::string>(storage::transaction&)> f) {
  auto body = std::make_shared<std::string>();
  auto w = with_body(std::move(name), std::move(f), body);
  auto done = co_await ask<actors::done>(c.s.self, c.s.store, std::move(w));
  co_return body_or_error(done, *body);
}

awaitable<outcome> write_between_turns(call& c, const uuid& context, std::string name,
                                       std::function<result<std::string>(storage::transaction&)> f) {
  auto body = std::make_shared<std::string>();
  actors::exclusive_edit e{with_body(std::move(name), std::move(f), body)};
  auto done = co_await ask<actors::done>(c.s.self, c.s.directory, context, std::move(e));
  co_return body_or_error(done, *body);
}

} // namespace troupe::net::rest
