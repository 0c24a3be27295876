// Requests and answers of the HTTP server, free of any HTTP library.
#pragma once

#include "core/base/error.hpp"
#include "net/io/awaitable.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net::http {

using fields = std::vector<std::pair<std::string, std::string>>; // names of headers in lower case

struct request {
  std::string method;
  std::string target; // as it came: path?query
  std::string path;   // decoded
  fields query;       // decoded, in order
  fields headers;
  std::string body;

  // The header's value; empty where it is absent.
  std::string_view header(std::string_view name) const noexcept;
  bool has_header(std::string_view name) const noexcept;
  // The last value of a query parameter.
  std::optional<std::string_view> parameter(std::string_view name) const noexcept;
};

// Splits a target into path and query and decodes both. False where an escape is broken or the path is not UTF-8.
bool parse_target(request& r);

// What a stream sends, piece by piece. Lives on the I/O thread.
class event_source {
public:
  virtual ~event_source() = default;
  using pieces = std::vector<std::string>; // one event each
  // What comes next; no piece when nothing has happened for `patience`; nothing at the end.
  virtual awaitable<std::optional<pieces>> next(std::chrono::milliseconds patience) = 0;
  // What to send when nothing has happened; empty: nothing.
  virtual std::string keep_alive() = 0;
  // Nobody reads any more: what waits in next() gets nothing, at once.
  virtual void leave() = 0;
};

struct response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  fields headers;
  std::shared_ptr<event_source> events; // a stream instead of the body

  static response json(std::string text, int status = 200) {
    response r;
    r.status = status;
    r.body = std::move(text);
    return r;
  }
};

// What the server calls for every request. Must not throw.
using handler = std::function<awaitable<response>(request)>;

} // namespace troupe::net::http
