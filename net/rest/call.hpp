// One request on its way through an endpoint: what came, who acts, and what endpoints do with it.
#pragma once

#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/schema/organization.hpp"
#include "net/rest/services.hpp"

namespace troupe::net::rest {

struct call {
  http::request request;
  services& s;
  actor by;
  bool new_sdk = true; // the caller is an SDK of version 1 or later (reference: resources §1.5)
  path_values values;
  std::optional<boost::system::result<json::value, json::syntax_error>>
      document{}; // a long body's, parsed already

  std::string_view path_value(std::string_view name) const;
  std::optional<std::string> project() const; // of the header X-Project-Id
};

// -- what came ------------------------------------------------------------------------------------
error bad_path_id(std::string_view name, std::string_view prefix, std::string_view given);

// An id of the path. Errors: invalid_body, in the words for ids.
template <class Id> result<Id> path_id(const call& c, std::string_view name) {
  auto text = c.path_value(name);
  if (auto id = Id::parse(text)) return *id;
  return bad_path_id(name, Id::prefix, text);
}

error bad_id(std::string_view prefix, std::string_view given);

// An id that is given as a plain text. Errors: invalid_argument, in the words for ids.
template <class Id> result<Id> id_named(std::string_view text) {
  if (auto id = Id::parse(text)) return *id;
  return bad_id(Id::prefix, text);
}

// Long bodies are parsed on a worker, before their endpoint is called: nobody else waits for them. Errors:
// payload_too_large where a body has too many values, whatever its bytes.
awaitable<result<void>> parse_long_body(call& c);

// The document of the body. Errors: invalid_body where there is none or it is no JSON.
result<json::value> body_document(call& c);

template <class T> result<T> body_of(call& c) {
  auto document = body_document(c);
  if (!document) return document.error();
  return json::read_as<T>(*document);
}

// A body that may be left out, or null.
template <class T> result<T> optional_body_of(call& c) {
  if (c.request.body.empty() || c.request.body == "null") return T{};
  return body_of<T>(c);
}

// -- reads ----------------------------------------------------------------------------------------
// A short read, here and now.
template <class F> outcome read(const call& c, F&& f) {
  auto snapshot = c.s.db->snapshot();
  result<std::string> body = f(*snapshot);
  if (!body) return body.error();
  return http::response::json(std::move(*body));
}

// A read that may be long, on a worker. What `f` refers to must outlive the call's coroutine step: capture by value.
awaitable<outcome> read_on_worker(call& c, std::function<result<std::string>(const storage::reader&)> f);

// -- writes ---------------------------------------------------------------------------------------
// One atomic batch, durable when this returns. `f` may run more than once and on another thread.
awaitable<result<void>> commit(call& c, std::string name,
                               std::function<result<void>(storage::transaction&)> f);

// What the store was to write later is there when this returns, unless the disk is full.
awaitable<void> commit_the_rest(call& c);

// A batch that gives the body of the answer.
awaitable<outcome> write(call& c, std::string name,
                         std::function<result<std::string>(storage::transaction&)> f);

// The same between two turns of an agent's context.
awaitable<outcome> write_between_turns(call& c, const uuid& context, std::string name,
                                       std::function<result<std::string>(storage::transaction&)> f);

} // namespace troupe::net::rest
