// What the commands that talk to a running server share: requests to its API, one after the other.
#pragma once

#include "core/base/error.hpp"
#include "core/json/value.hpp"
#include "net/client/http_client.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe::runtime {

struct server_address {
  std::string url = "http://127.0.0.1:8283";
  std::string password;
};

class connection {
public:
  explicit connection(server_address a) : to_(std::move(a)), client_(net::make_http_client(io_)) {}

  // One request to its end. Errors: one line that says what to do.
  result<json::value> ask(std::string method, const std::string& path, std::string body = {});
  // A POST whose answer is a stream: its events as they come.
  result<void> stream(const std::string& path, std::string body,
                      const std::function<void(std::string_view data)>& event);

private:
  net::client_request request(std::string method, const std::string& path, std::string body) const;
  result<json::value> read(const boost::system::result<net::client_answer, net::client_failure>& a) const;

  server_address to_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::http_client> client_;
};

// The items of a list; none where it is none.
const json::array& items_of(const json::value& list);
// {"messages": [..], "stream_tokens": true}: what a person said.
std::string message_body(const std::string& text);

} // namespace troupe::runtime
