// A request as it comes over the wire: the parser with the server's limits, the target, the query.
#pragma once

#include "core/base/text.hpp"
#include "net/rest/parameters.hpp"
#include "tests/fuzz/target.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace troupe::fuzz {

inline void read_query(const net::http::request& r) {
  net::rest::services none;
  net::rest::call c{r, none, {}, true, {}};
  auto page = net::rest::query_of<net::rest::page_parameters>(c);
  if (!page) must(text::is_utf8(page.error().message), "an error is UTF-8");
}

inline void read_target(std::string target) {
  net::http::request r;
  r.target = std::move(target);
  if (!net::http::parse_target(r)) return;
  must(r.path.starts_with('/') && text::is_utf8(r.path), "a path begins with a slash and is UTF-8");
  must(r.path.size() <= r.target.size(), "decoding does not grow");
  for (auto& [name, value] : r.query) must(text::is_utf8(name) && text::is_utf8(value), "a query is UTF-8");
  read_query(r);
  net::rest::router routes;
  routes.declare("GET", "/agents/{agent_id}");
  routes.declare("GET", "/agents/");
  routes.declare("POST", "/agents/{agent_id}/messages/{message_id}");
  for (auto& [name, value] : routes.find("GET", r.path).values)
    must(r.path.find(value) != std::string::npos, "a path's value is part of the path");
}

inline void request(std::string_view bytes) {
  namespace http = boost::beast::http;
  http::request_parser<http::string_body> parser;
  parser.header_limit(64 << 10);
  parser.body_limit(1 << 20);
  parser.eager(true);
  boost::beast::flat_buffer buffer;
  buffer.commit(boost::asio::buffer_copy(buffer.prepare(bytes.size()),
                                         boost::asio::buffer(bytes.data(), bytes.size())));
  boost::system::error_code ec;
  while (!ec && !parser.is_done() && buffer.size() > 0) {
    auto n = parser.put(buffer.data(), ec);
    buffer.consume(n);
    if (n == 0) break;
  }
  if (parser.is_header_done()) read_target(std::string(parser.get().target()));
  read_target(
      std::string(bytes.substr(0, 4096))); // most bytes are no request; as a target they still go somewhere
}

} // namespace troupe::fuzz
