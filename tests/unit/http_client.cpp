// Calls to others: their bounds (net/client/http_client.hpp). Each against a socket of this process.
#define CAF_SUITE http_client
#include "net/client/http_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "caf/test/unit_test.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

namespace {

// A server of one call, which sends its pieces with pauses between them and then hangs up, or neither ends nor says more.
struct fixture {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
  std::unique_ptr<http_client> client = make_http_client(io);
  std::vector<std::string> pieces;
  std::chrono::milliseconds gap{10};
  bool hangs_up = false;
  std::string heard;
  std::optional<boost::system::result<client_answer, client_failure>> outcome;

  awaitable<void> serve() {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::streambuf request;
    co_await asio::async_read_until(socket, request, "\r\n\r\n", asio::use_awaitable);
    asio::steady_timer pause(io);
    for (auto& piece : pieces) {
      co_await asio::async_write(socket, asio::buffer(piece), asio::use_awaitable);
      pause.expires_after(gap);
      co_await pause.async_wait(asio::use_awaitable);
    }
    if (hangs_up) co_return;
    pause.expires_after(1h);
    co_await pause.async_wait(asio::use_awaitable);
  }

  client_request request() const {
    client_request q;
    q.method = "GET";
    q.url = "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) + "/";
    return q;
  }

  // Runs until the call has ended; gives why there was no answer.
  client_failure failure_of(client_request q) {
    asio::co_spawn(io, serve(), asio::detached);
    client->start(
        std::move(q), [this](std::string_view bytes) { heard += bytes; },
        [this](boost::system::result<client_answer, client_failure> o) {
          outcome.emplace(std::move(o));
          io.stop();
        });
    io.run();
    CAF_REQUIRE(outcome && !*outcome);
    CAF_CHECK_EQUAL(client->running(), 0u);
    return outcome->error();
  }
};

const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";

} // namespace

CAF_TEST_FIXTURE_SCOPE(http_client_tests, fixture)

CAF_TEST(a server that says nothing is left after the silence) {
  auto q = request();
  q.silence_timeout = 50ms;
  auto why = failure_of(std::move(q));
  CAF_CHECK(why.what == client_failure::kind::timeout);
  CAF_CHECK_EQUAL(why.message, "not a byte for 0.05 seconds");
}

CAF_TEST(every byte ends a silence) {
  pieces = {head, "a", "b", "c", "d", "e"};
  gap = 250ms; // longer than the silence in all
  auto q = request();
  q.silence_timeout = 1s;
  auto why = failure_of(std::move(q));
  CAF_CHECK(why.what == client_failure::kind::timeout);
  CAF_CHECK_EQUAL(heard, "abcde");
}

CAF_TEST(the whole has its bound however much is said) {
  pieces.assign(1000, "x"); // for ten seconds
  pieces.insert(pieces.begin(), head);
  auto q = request();
  q.timeout = 1s;
  auto why = failure_of(std::move(q));
  CAF_CHECK(why.what == client_failure::kind::timeout);
  CAF_CHECK_EQUAL(why.message, "no answer within 1 seconds");
  CAF_CHECK(!heard.empty());
}

CAF_TEST(a call that was aborted is not heard of again) {
  pieces = {head, "a"};
  auto q = request();
  asio::co_spawn(io, serve(), asio::detached);
  bool ended = false;
  auto id = client->start(
      std::move(q), [&](std::string_view) {}, [&](auto&&) { ended = true; });
  asio::steady_timer later(io, 10ms), end(io, 50ms);
  later.async_wait([&](auto) { client->abort(id); });
  end.async_wait([&](auto) { io.stop(); });
  io.run();
  CAF_CHECK(!ended);
  CAF_CHECK_EQUAL(client->running(), 0u);
}

CAF_TEST(without calls it has nothing to do) {
  pieces = {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", "a"};
  hangs_up = true;
  asio::co_spawn(io, serve(), asio::detached);
  client->start(request(), nullptr, [this](auto o) { outcome.emplace(std::move(o)); });
  io.run_for(10s);
  CAF_CHECK(io.stopped()); // it did not wait for the bounds of a call that has ended
  CAF_REQUIRE(outcome && *outcome);
  CAF_CHECK_EQUAL((*outcome)->body, "a");
}

CAF_TEST_FIXTURE_SCOPE_END()
