// HTTP for calls to others: libcurl's multi interface, driven by the io_context. Everything on the I/O thread.
#pragma once

#include "core/base/error.hpp"
#include "net/io/awaitable.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

struct client_request {
  std::string method = "POST";
  std::string url;
  std::vector<std::string> headers; // "Name: value"
  // Shared with whoever made it; let go when a streamed answer begins.
  std::shared_ptr<const std::string> body;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{600'000};         // of the whole
  std::chrono::milliseconds silence_timeout{300'000}; // without a single byte
  std::size_t max_answer = 64 << 20;                  // bytes; more is an error
};

struct client_answer {
  int status = 0;
  std::string body; // of a streamed answer: only what came with an error status
  std::string content_type;
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<bool> should_retry; // what the server says about it, by x-should-retry
};

// Why there was no answer.
struct client_failure {
  enum class kind { connection, timeout, too_large, aborted } what = kind::connection;
  std::string message;
};

class http_client {
public:
  using on_done = std::function<void(boost::system::result<client_answer, client_failure>)>;
  // Pieces of a successful answer as they come.
  using on_data = std::function<void(std::string_view)>;
  using handle = std::uint64_t;

  virtual ~http_client() = default;
  // Begins a call. `done` is called exactly once, unless the call is aborted first; never from inside this function.
  virtual handle start(client_request request, on_data data, on_done done) = 0;
  // The call is over; nothing of it is called any more.
  virtual void abort(handle call) = 0;
  virtual std::size_t running() const = 0;
};

[[noreturn]] void throw_exception_from_error(const client_failure& f, const boost::source_location&);

std::unique_ptr<http_client> make_http_client(asio::io_context& io);

// One call to its end, for coroutines of the I/O thread.
awaitable<boost::system::result<client_answer, client_failure>> fetch(http_client& client,
                                                                      client_request request);

} // namespace troupe::net
