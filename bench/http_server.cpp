#include "bench/http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <cstdio>

namespace troupe::bench {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto use_error = asio::as_tuple(asio::use_awaitable);

asio::awaitable<bool> send_body(tcp::socket& socket, const answer& a) {
  http::response<http::string_body> m{static_cast<http::status>(a.status), 11};
  m.set(http::field::content_type, "application/json");
  m.body() = a.body;
  m.prepare_payload();
  auto [ec, n] = co_await http::async_write(socket, m, use_error);
  co_return !ec;
}

asio::awaitable<bool> send_pieces(tcp::socket& socket, const answer& a) {
  http::response<http::empty_body> m{http::status::ok, 11};
  m.set(http::field::content_type, "text/event-stream");
  m.chunked(true);
  http::response_serializer<http::empty_body> head{m};
  auto [head_ec, head_n] = co_await http::async_write_header(socket, head, use_error);
  if (head_ec) co_return false;
  asio::steady_timer timer(socket.get_executor());
  for (auto& piece : a.pieces) {
    if (a.hold && &piece == &a.pieces.back()) {
      char byte;
      [[maybe_unused]] auto [ec, n] = co_await socket.async_read_some(asio::buffer(&byte, 1), use_error);
      co_return false;
    }
    if (a.pause.count() > 0 && &piece != &a.pieces.front()) {
      timer.expires_after(a.pause);
      [[maybe_unused]] auto [ec] = co_await timer.async_wait(use_error);
    }
    auto [ec, n] = co_await asio::async_write(socket, http::make_chunk(asio::buffer(piece)), use_error);
    if (ec) co_return false;
  }
  auto [ec, n] = co_await asio::async_write(socket, http::make_chunk_last(), use_error);
  co_return !ec;
}

asio::awaitable<void> connection(tcp::socket socket, handler handle) {
  boost::beast::flat_buffer buffer;
  for (bool open = true; open;) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(64u << 20);
    auto [ec, n] = co_await http::async_read(socket, buffer, parser, use_error);
    if (ec) co_return;
    auto& request = parser.get();
    auto target = request.target();
    auto a = handle({target.data(), target.size()}, request.body());
    open = a.pieces.empty() ? co_await send_body(socket, a) : co_await send_pieces(socket, a);
  }
}

asio::awaitable<void> accept(tcp::acceptor acceptor, handler handle) {
  for (;;) {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), connection(std::move(socket), handle), asio::detached);
  }
}

} // namespace

int serve(handler handle) {
  asio::io_context io{1};
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::printf("listens on %u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  asio::co_spawn(io, accept(std::move(acceptor), handle), asio::detached);
  io.run();
  return 0;
}

} // namespace troupe::bench
