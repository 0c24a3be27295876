#include "net/sandbox/sandbox.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <deque>
#include <unordered_map>

namespace troupe::net {

namespace {

using actors::sandbox_job_ptr;

// What the warden of a call needs to end it itself, beyond its time.
constexpr auto patience = std::chrono::seconds(15);

// One job from its arrival to its answer.
struct job_state {
  job_state(asio::io_context& io, sandbox_job_ptr j, actors::reply<std::string> a)
      : job(std::move(j)), answer(std::move(a)), socket(io), timer(io) {}
  sandbox_job_ptr job;
  actors::reply<std::string> answer;
  asio::local::stream_protocol::socket socket;
  asio::steady_timer timer;
};
using job_state_ptr = std::shared_ptr<job_state>;

using length_bytes = std::array<unsigned char, 8>;

length_bytes encode(std::uint64_t n) {
  length_bytes out;
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<unsigned char>(n >> (8 * (7 - i)));
  return out;
}
std::uint64_t decode(const length_bytes& bytes) {
  std::uint64_t n = 0;
  for (auto b : bytes) n = n << 8 | b;
  return n;
}

// The request goes out, the answer comes in. Errors: whatever the socket says, in the end always that it was closed.
awaitable<result<std::string>> talk(job_state_ptr s, std::string request, std::uint64_t longest) {
  auto token = asio::as_tuple(asio::use_awaitable);
  auto lost = fail(errc::unavailable, "the process that ran it was lost");
  auto length = encode(request.size());
  std::array<asio::const_buffer, 2> out{asio::buffer(length), asio::buffer(request)};
  auto [written, n] = co_await asio::async_write(s->socket, out, token);
  if (written) co_return lost;
  auto [headed, m] = co_await asio::async_read(s->socket, asio::buffer(length), token);
  if (headed || decode(length) > longest) co_return lost;
  std::string body(decode(length), '\0');
  auto [ended, k] = co_await asio::async_read(s->socket, asio::buffer(body), token);
  if (ended) co_return lost;
  co_return body;
}

class sandbox_impl final : public actors::hosted_actor {
public:
  sandbox_impl(caf::actor_config& cfg, actors::host* h, asio::io_context& io, sandbox_options options)
      : hosted_actor(cfg, h), io_(io), options_(std::move(options)) {}
  const char* name() const override { return "sandbox"; }

  caf::behavior make_behavior() override {
    return {
        [this](const sandbox_job_ptr& job) -> caf::typed_response_promise<std::string> {
          auto promise = make_response_promise<std::string>();
          actors::guarded("sandbox.job", [&] { take(job, actors::reply<std::string>(promise)); });
          return promise;
        },
        [this](actors::abandon_atom, const uuid& job) {
          actors::guarded("sandbox.abandon", [&] { abandon(job); });
        },
    };
  }

  // Jobs refer to this actor: they go before it does. Closed sockets end their processes.
  void on_exit() override {
    *alive_ = false;
    for (auto& [id, s] : running_) close(*s);
    running_.clear();
    waiting_.clear();
    keeper_.reset();
  }

private:
  void take(const sandbox_job_ptr& job, actors::reply<std::string> answer) {
    auto s = std::make_shared<job_state>(io_, job, std::move(answer));
    if (running_.size() < options_.at_once) return begin(s);
    if (waiting_.size() >= options_.max_waiting)
      return s->answer.deliver(fail(errc::too_many_requests, "too many calls of tools are waiting"));
    waiting_.push_back(std::move(s));
  }

  // A keeper that died is replaced once; why it cannot be is the answer.
  result<descriptor> connect() {
    if (keeper_)
      if (auto fd = keeper_->connect()) return fd;
    auto fresh = keeper::start(options_.keeper);
    if (!fresh) return fresh.error();
    keeper_ = std::move(*fresh);
    return keeper_->connect();
  }

  void begin(const job_state_ptr& s) {
    auto fd = connect();
    if (!fd) return s->answer.deliver(fd.error());
    s->socket.assign(asio::local::stream_protocol(), fd->release());
    running_.emplace(s->job->id, s);
    s->timer.expires_after(std::chrono::seconds(options_.seconds) + patience);
    s->timer.async_wait([s](boost::system::error_code ec) {
      if (!ec) close(*s);
    });
    auto longest =
        static_cast<std::uint64_t>(6 * (2 * options_.output_bytes + options_.result_bytes) + 4'096);
    asio::co_spawn(io_, talk(s, request_of(*s->job), longest),
                   [this, s, alive = alive_](const std::exception_ptr& e, result<std::string> r) {
                     if (!*alive) return;
                     if (e) r = fail(errc::internal, "the process that ran it could not be talked to");
                     finish(s, std::move(r));
                   });
  }

  // The job with its limits: those are the server's to say.
  std::string request_of(const actors::sandbox_job& job) const {
    auto number = [](const char* name, std::int64_t n) {
      return '"' + std::string(name) + "\":" + std::to_string(n);
    };
    return "{\"limits\":{" + number("seconds", options_.seconds) + ',' +
           number("memory", options_.memory_mib << 20) + ',' + number("file", options_.file_mib << 20) + ',' +
           number("files", options_.files) + ',' + number("output", options_.output_bytes) + ',' +
           number("result", options_.result_bytes) + "}," + job.body.substr(1);
  }

  void finish(const job_state_ptr& s, result<std::string> r) {
    close(*s);
    running_.erase(s->job->id);
    if (r)
      s->answer.deliver(std::move(*r));
    else
      s->answer.deliver(r.error());
    if (waiting_.empty()) return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(next);
  }

  // What runs is ended by closing its socket; its answer is then that it was lost.
  void abandon(const uuid& id) {
    if (auto it = running_.find(id); it != running_.end()) return close(*it->second);
    auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](auto& s) { return s->job->id == id; });
    if (it == waiting_.end()) return;
    (*it)->answer.deliver(fail(errc::cancelled, "the call was cancelled before it began"));
    waiting_.erase(it);
  }

  static void close(job_state& s) {
    boost::system::error_code ignored;
    s.socket.close(ignored);
    s.timer.cancel();
  }

  asio::io_context& io_;
  sandbox_options options_;
  std::unique_ptr<keeper> keeper_;
  std::unordered_map<uuid, job_state_ptr> running_;
  std::deque<job_state_ptr> waiting_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace

actors::sandbox_actor spawn_sandbox(caf::actor_system& system, actors::host* host, asio::io_context& io,
                                    sandbox_options options) {
  auto handle = system.spawn<sandbox_impl>(host, std::ref(io), std::move(options));
  return caf::actor_cast<actors::sandbox_actor>(handle);
}

} // namespace troupe::net
