// The HTTP server: connections, parsing, limits, timeouts, TLS, streams. One I/O thread; one coroutine a connection.
#pragma once

#include "net/http/message.hpp"

namespace troupe::net::http {

struct server_options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8283;           // 0: any free one
  std::size_t max_body = 32 << 20;     // bytes of a request's body
  std::uint32_t max_header = 64 << 10; // bytes of a request's head
  std::size_t max_connections = 10'000;
  std::chrono::milliseconds header_timeout{15'000}; // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{60'000};   // for the body
  std::chrono::milliseconds idle_timeout{120'000};  // between two requests
  std::chrono::milliseconds write_timeout{60'000};  // of one piece of an answer
  std::chrono::milliseconds keep_alive{20'000};     // silence of a stream before it sends a sign of life
  std::string tls_certificate;                      // PEM files; empty: no TLS
  std::string tls_key;
};

class server {
public:
  virtual ~server() = default;
  // The port that it listens on.
  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;
  // Takes no more connections, ends the idle ones; those at work finish. Call again to end them too.
  virtual void stop(bool now) = 0;
};

// Listens, or says in one line why it cannot. The context must outlive the server, and run on one thread.
result<std::unique_ptr<server>> listen(asio::io_context& io, const server_options& options, handler h);

} // namespace troupe::net::http
