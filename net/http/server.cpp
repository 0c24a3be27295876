#include "net/http/server.hpp"

#include "core/base/text.hpp"
#include "net/http/listening.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>

namespace troupe::net::http {

namespace {

namespace beast = boost::beast;
namespace bhttp = beast::http;
namespace ssl = asio::ssl;
using tcp = asio::ip::tcp;
using plain_stream = beast::tcp_stream;
using tls_stream = beast::ssl_stream<beast::tcp_stream>;
using boost::system::error_code;

constexpr auto use_error = asio::as_tuple(asio::use_awaitable);

class session_base {
public:
  virtual ~session_base() = default;
  virtual void end(bool now) = 0;
};

struct shared_state {
  server_options options;
  handler handle;
  std::set<session_base*> sessions;
  std::size_t turned_away = 0; // of the sessions, those beyond the limit
  bool stopping = false;
};

constexpr std::size_t most_turned_away = 64; // at a time; more are closed without a word

response plain_error(int status, const std::string& detail) {
  response r;
  r.status = status;
  r.body = R"({"detail":")" + detail + "\"}";
  return r;
}

template <class Stream>
class session final : public session_base, public std::enable_shared_from_this<session<Stream>> {
public:
  session(Stream stream, std::shared_ptr<shared_state> state)
      : stream_(std::move(stream)), state_(std::move(state)) {
    state_->sessions.insert(this);
  }
  ~session() override { state_->sessions.erase(this); }

  awaitable<void> run() {
    auto self = this->shared_from_this(); // the coroutine keeps its session
    if (!co_await greet()) co_return;
    while (co_await one_request()) {}
    co_await close();
  }

  // For one connection too many.
  awaitable<void> turn_away() {
    auto self = this->shared_from_this();
    ++state_->turned_away;
    if (co_await greet()) co_await refuse(503, "Too many connections: try again later");
    --state_->turned_away;
  }

  void end(bool now) override {
    if (now || waiting_) tcp_layer().cancel();
    ending_ = true;
  }

private:
  plain_stream& tcp_layer() {
    if constexpr (std::is_same_v<Stream, tls_stream>)
      return stream_.next_layer();
    else
      return stream_;
  }

  awaitable<bool> greet() {
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      tcp_layer().expires_after(state_->options.header_timeout);
      auto [ec] = co_await stream_.async_handshake(ssl::stream_base::server, use_error);
      if (ec) co_return false;
    }
    co_return true;
  }

  awaitable<void> close() {
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      tcp_layer().expires_after(std::chrono::seconds(2));
      [[maybe_unused]] auto [ec] = co_await stream_.async_shutdown(use_error);
    }
    error_code ignored;
    tcp_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
    co_return;
  }

  // Reads, handles and answers one request; false: the connection ends.
  awaitable<bool> one_request() {
    bhttp::request_parser<bhttp::string_body> parser;
    parser.header_limit(state_->options.max_header);
    parser.body_limit(state_->options.max_body);
    auto ec = co_await read_head(parser);
    if (ec == bhttp::error::header_limit) co_return co_await refuse(431, "Request header too large");
    if (ec == bhttp::error::end_of_stream || ec == asio::error::operation_aborted || is_io_error(ec))
      co_return false;
    if (ec == bhttp::error::body_limit) co_return co_await refuse(413, too_large());
    if (ec) co_return co_await refuse(400, "There was an error parsing the request");
    if (parser.get()[bhttp::field::expect] == "100-continue" && !co_await say_continue()) co_return false;
    tcp_layer().expires_after(state_->options.body_timeout);
    auto [body_ec, n] = co_await bhttp::async_read(stream_, buffer_, parser, use_error);
    if (body_ec == bhttp::error::body_limit) co_return co_await refuse(413, too_large());
    if (is_io_error(body_ec) || body_ec == bhttp::error::end_of_stream) co_return false;
    if (body_ec) co_return co_await refuse(400, "There was an error parsing the body");
    co_return co_await answer(parser.release());
  }

  static bool is_io_error(error_code ec) {
    return ec && ec.category() != bhttp::make_error_code(bhttp::error::end_of_stream).category();
  }
  std::string too_large() const {
    return "Request body is larger than " + std::to_string(state_->options.max_body) + " bytes";
  }

  // Waits for a request as long as connections may be idle, then for its head as long as heads may take.
  awaitable<error_code> read_head(bhttp::request_parser<bhttp::string_body>& parser) {
    if (buffer_.size() == 0) {
      if (ending_ || state_->stopping) co_return asio::error::operation_aborted;
      buffer_.shrink_to_fit();
      waiting_ = true;
      tcp_layer().expires_after(state_->options.idle_timeout);
      auto [ec, n] = co_await stream_.async_read_some(buffer_.prepare(4096), use_error);
      waiting_ = false;
      if (ec) co_return ec;
      buffer_.commit(n);
    }
    tcp_layer().expires_after(state_->options.header_timeout);
    auto [ec, n] = co_await bhttp::async_read_header(stream_, buffer_, parser, use_error);
    co_return ec;
  }

  awaitable<bool> say_continue() {
    bhttp::response<bhttp::empty_body> r{bhttp::status::continue_, 11};
    auto [ec, n] = co_await bhttp::async_write(stream_, r, use_error);
    co_return !ec;
  }

  // An answer to something that was not read to its end: the connection cannot go on.
  awaitable<bool> refuse(int status, std::string detail) {
    auto r = plain_error(status, detail);
    co_await write_whole(r, 11, false, false);
    // A client that is still sending must get to read the answer before the connection is reset.
    error_code ignored;
    tcp_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
    tcp_layer().expires_after(std::chrono::seconds(2));
    char sink[8192];
    for (;;) {
      auto [ec, n] = co_await stream_.async_read_some(asio::buffer(sink), use_error);
      if (ec) break;
    }
    co_return false;
  }

  static request convert(bhttp::request<bhttp::string_body> in) {
    request out;
    out.method = std::string(in.method_string());
    out.target = std::string(in.target());
    for (auto& f : in)
      out.headers.emplace_back(text::lower(std::string_view(f.name_string().data(), f.name_string().size())),
                               text::utf8(std::string_view(f.value().data(), f.value().size())));
    out.body = std::move(in.body());
    return out;
  }

  awaitable<bool> answer(bhttp::request<bhttp::string_body> in) {
    bool keep = in.keep_alive();
    auto version = in.version();
    bool head = in.method() == bhttp::verb::head;
    auto req = convert(std::move(in));
    tcp_layer().expires_never();
    response r;
    if (!parse_target(req))
      r = plain_error(400, "There was an error parsing the request");
    else
      r = co_await state_->handle(std::move(req));
    keep = keep && !state_->stopping && !ending_;
    if (r.events) co_return co_await answer_stream(r, version);
    co_return co_await write_whole(r, version, keep, head) && keep;
  }

  template <class Message> static void set_head(Message& m, const response& r, bool keep) {
    if (!r.content_type.empty()) m.set(bhttp::field::content_type, r.content_type);
    for (auto& [name, value] : r.headers) m.set(name, value);
    m.keep_alive(keep);
  }

  awaitable<bool> write_whole(const response& r, unsigned version, bool keep, bool head) {
    bhttp::response<bhttp::string_body> m{static_cast<bhttp::status>(r.status), version};
    set_head(m, r, keep);
    bool bodiless = r.status == 204 || r.status == 304;
    if (!head && !bodiless) m.body() = r.body;
    if (!bodiless) m.content_length(r.body.size());
    tcp_layer().expires_after(state_->options.write_timeout);
    if (head) {
      bhttp::response_serializer<bhttp::string_body> sr{m};
      auto [ec, n] = co_await bhttp::async_write_header(stream_, sr, use_error);
      co_return !ec;
    }
    auto [ec, n] = co_await bhttp::async_write(stream_, m, use_error);
    co_return !ec;
  }

  awaitable<bool> answer_stream(const response& r, unsigned version) {
    using namespace asio::experimental::awaitable_operators;
    if (buffer_.size() == 0) buffer_.shrink_to_fit(); // thousands of streams may be open
    streaming_ = true;
    co_return co_await (watch_client(*r.events) && write_stream(r, version));
  }

  // Reads ahead while a stream is open, into the buffer of the next request: only a read shows that a client has left
  // while nothing is written to it.
  awaitable<void> watch_client(event_source& events) {
    constexpr std::size_t most = 4096, piece = 512;
    while (streaming_ && buffer_.size() < most) {
      tcp_layer().expires_never();
      auto [ec, n] = co_await stream_.async_read_some(buffer_.prepare(piece), use_error);
      buffer_.commit(n);
      if (!ec) continue;
      streaming_ = false;
      events.leave();
    }
  }

  // Writes until the stream, or its client, is at the end; then the watch on the client ends too.
  awaitable<bool> write_stream(const response& r, unsigned version) {
    bool whole = co_await write_events(r, version) && streaming_;
    if (std::exchange(streaming_, false)) tcp_layer().cancel();
    co_return whole&& version == 11 && !state_->stopping;
  }

  // To the last byte; false where the client cannot be written to any more. An HTTP/1.0 client reads until the end of
  // the connection, the others until the last chunk.
  awaitable<bool> write_events(const response& r, unsigned version) {
    bhttp::response<bhttp::empty_body> m{static_cast<bhttp::status>(r.status), version};
    set_head(m, r, version == 11);
    m.chunked(version == 11);
    bhttp::response_serializer<bhttp::empty_body> sr{m};
    tcp_layer().expires_after(state_->options.write_timeout);
    auto [ec, n] = co_await bhttp::async_write_header(stream_, sr, use_error);
    if (ec) co_return false;
    while (auto pieces = co_await r.events->next(state_->options.keep_alive)) {
      if (pieces->empty()) pieces->push_back(r.events->keep_alive());
      if (ending_) co_return false;
      if (!co_await write_pieces(*pieces, version == 11)) co_return false;
    }
    if (version != 11 || !streaming_) co_return true;
    tcp_layer().expires_after(state_->options.write_timeout);
    auto [last_ec, last_n] = co_await asio::async_write(stream_, bhttp::make_chunk_last(), use_error);
    co_return !last_ec;
  }

  // Each event is a chunk of its own, so that clients see them one by one; all of them are one write.
  awaitable<bool> write_pieces(const event_source::pieces& pieces, bool chunked) {
    std::string all;
    for (auto& p : pieces) {
      if (p.empty()) continue;
      if (chunked) all.append(fmt::format("{:x}\r\n", p.size()));
      all += p;
      if (chunked) all += "\r\n";
    }
    if (all.empty()) co_return true;
    tcp_layer().expires_after(state_->options.write_timeout);
    auto [ec, n] = co_await asio::async_write(stream_, asio::buffer(all), use_error);
    co_return !ec;
  }

  Stream stream_;
  std::shared_ptr<shared_state> state_;
  beast::flat_buffer buffer_;
  bool waiting_ = false;   // for a request to begin
  bool streaming_ = false; // and the client is there, as far as we know
  bool ending_ = false;
};

class beast_server final : public server {
public:
  beast_server(asio::io_context& io, std::shared_ptr<shared_state> state, tcp::acceptor acceptor,
               std::optional<ssl::context> tls)
      : io_(io), state_(std::move(state)), acceptor_(std::move(acceptor)), tls_(std::move(tls)) {}

  ~beast_server() override {
    error_code ignored;
    acceptor_.close(ignored);
  }

  void start() { asio::co_spawn(io_, accept(), asio::detached); }

  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const override { return state_->sessions.size(); }

  void stop(bool now) override {
    state_->stopping = true;
    error_code ignored;
    acceptor_.close(ignored);
    auto sessions = state_->sessions; // ending one may take it out of the set
    for (auto* s : sessions) s->end(now);
  }

private:
  awaitable<void> accept() {
    auto state = state_;
    for (;;) {
      auto [ec, socket] = co_await acceptor_.async_accept(use_error);
      if (ec == asio::error::operation_aborted || state->stopping) co_return;
      if (ec) { // too many open files, for instance: wait for some to close
        spdlog::warn("accept: {}", ec.message());
        asio::steady_timer pause(io_, std::chrono::milliseconds(100));
        [[maybe_unused]] auto [pause_ec] = co_await pause.async_wait(use_error);
        continue;
      }
      bool full = state->sessions.size() - state->turned_away >= state->options.max_connections;
      if (full && state->turned_away >= most_turned_away) continue;
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      begin(std::move(socket), full);
    }
  }

  void begin(tcp::socket socket, bool full) {
    auto run = [&](auto s) { asio::co_spawn(io_, full ? s->turn_away() : s->run(), asio::detached); };
    plain_stream stream(std::move(socket));
    if (tls_)
      run(std::make_shared<session<tls_stream>>(tls_stream(std::move(stream), *tls_), state_));
    else
      run(std::make_shared<session<plain_stream>>(std::move(stream), state_));
  }

  asio::io_context& io_;
  std::shared_ptr<shared_state> state_;
  tcp::acceptor acceptor_;
  std::optional<ssl::context> tls_;
};

} // namespace

result<std::unique_ptr<server>> listen(asio::io_context& io, const server_options& options, handler h) {
  auto tls = make_tls(options);
  if (!tls) return tls.error();
  auto acceptor = open_port(io, options);
  if (!acceptor) return acceptor.error();
  auto state = std::make_shared<shared_state>();
  state->options = options;
  state->handle = std::move(h);
  auto s = std::make_unique<beast_server>(io, std::move(state), std::move(*acceptor), std::move(*tls));
  s->start();
  return std::unique_ptr<server>(std::move(s));
}

} // namespace troupe::net::http
