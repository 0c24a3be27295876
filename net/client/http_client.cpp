#include "net/client/http_client.hpp"

#include "core/base/text.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_map>

namespace troupe::net {

void throw_exception_from_error(const client_failure& f, const boost::source_location&) {
  throw std::runtime_error("unchecked call: " + f.message);
}

namespace {

struct easy_deleter {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
};
struct slist_deleter {
  void operator()(curl_slist* l) const { curl_slist_free_all(l); }
};

using monotonic = std::chrono::steady_clock;

struct transfer {
  std::unique_ptr<CURL, easy_deleter> easy{curl_easy_init()};
  std::unique_ptr<curl_slist, slist_deleter> headers;
  client_request request;
  client_answer answer;
  http_client::on_data data;
  http_client::on_done done;
  char problem[CURL_ERROR_SIZE] = {};
  std::size_t received = 0;
  curl_off_t sent = 0; // when it was looked at last
  monotonic::time_point ends_at, heard_at;
  bool too_large = false;
  http_client::handle id = 0;

  // Silence is what tells a dead stream from a long one; the whole has its bound too.
  monotonic::time_point deadline() const { return std::min(ends_at, heard_at + request.silence_timeout); }
};

// A socket of curl's, watched by asio but owned by curl.
struct watched {
  explicit watched(asio::io_context& io, curl_socket_t fd) : descriptor(io, fd) {}
  ~watched() { descriptor.release(); }
  asio::posix::stream_descriptor descriptor;
  int wanted = 0; // CURL_POLL_*
  bool reading = false, writing = false;
};

class curl_client final : public http_client {
public:
  explicit curl_client(asio::io_context& io)
      : io_(io), timer_(io), deadlines_(io), multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &curl_client::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &curl_client::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 256L);
  }

  ~curl_client() override {
    *alive_ = false;
    for (auto& [id, t] : transfers_) curl_multi_remove_handle(multi_, t->easy.get());
    transfers_.clear();
    curl_multi_cleanup(multi_);
  }

  handle start(client_request request, on_data data, on_done done) override {
    auto t = std::make_unique<transfer>();
    t->request = std::move(request);
    t->data = std::move(data);
    t->done = std::move(done);
    t->id = ++last_id_;
    prepare(*t);
    auto id = t->id;
    t->heard_at = monotonic::now();
    t->ends_at = t->heard_at + t->request.timeout;
    look_at(t->deadline());
    curl_multi_add_handle(multi_, t->easy.get()); // curl asks for a timer, which starts it
    transfers_.emplace(id, std::move(t));
    return id;
  }

  void abort(handle call) override {
    auto it = transfers_.find(call);
    if (it == transfers_.end()) return;
    curl_multi_remove_handle(multi_, it->second->easy.get());
    retire(it);
  }

  std::size_t running() const override { return transfers_.size(); }

private:
  using transfers = std::map<handle, std::unique_ptr<transfer>>;
  using transfer_place = transfers::iterator;
  using outcome = boost::system::result<client_answer, client_failure>;

  void prepare(transfer& t) {
    auto* c = t.easy.get();
    auto& r = t.request;
    for (auto& h : r.headers) t.headers.reset(curl_slist_append(t.headers.release(), h.c_str()));
    curl_easy_setopt(c, CURLOPT_URL, r.url.c_str());
    r.headers = {}; // curl has copies
    r.url = {};
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, t.headers.get());
    if (r.method == "POST") {
      curl_easy_setopt(c, CURLOPT_POST, 1L);
      if (!r.body) r.body = std::make_shared<const std::string>();
      curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(r.body->size()));
      curl_easy_setopt(c, CURLOPT_POSTFIELDS, r.body->data());
    } else if (r.method != "GET") {
      curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r.method.c_str());
    }
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, &curl_client::on_write);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &t);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, &curl_client::on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &t);
    curl_easy_setopt(c, CURLOPT_PRIVATE, &t);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t.problem);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
    // Every open stream holds such a buffer, and tokens are small; a large answer is read in more pieces.
    curl_easy_setopt(c, CURLOPT_BUFFERSIZE, t.data ? 1024L : 4096L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(r.connect_timeout.count()));
    // The other bounds are our own: curl would set its timer anew with every token.
  }

  static std::size_t on_write(char* bytes, std::size_t size, std::size_t n, void* user) {
    auto& t = *static_cast<transfer*>(user);
    std::string_view piece(bytes, size * n);
    t.heard_at = monotonic::now();
    t.received += piece.size();
    if (t.received > t.request.max_answer) {
      t.too_large = true;
      return 0;
    }
    long status = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (t.data && status == 200) {
      let_body_go(t);
      t.data(piece);
    } else {
      t.answer.body += piece;
    }
    return piece.size();
  }

  // A stream may last for long, and nothing is sent again once its answer has begun.
  static void let_body_go(transfer& t) {
    if (!t.request.body) return;
    curl_off_t sent = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
    if (sent == static_cast<curl_off_t>(t.request.body->size())) t.request.body.reset();
  }

  // The value of a header, where the line is of that name (which is in small letters).
  static std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
    bool same = line.size() > name.size() && line[name.size()] == ':' &&
                std::equal(name.begin(), name.end(), line.begin(),
                           [](char a, char b) { return a == (b | 0x20) || a == b; });
    return same ? std::optional(text::trim(line.substr(name.size() + 1))) : std::nullopt;
  }

  static std::size_t on_header(char* bytes, std::size_t size, std::size_t n, void* user) {
    auto& t = *static_cast<transfer*>(user);
    std::string_view line(bytes, size * n);
    t.heard_at = monotonic::now();
    if (auto value = value_of(line, "retry-after")) {
      int seconds = 0;
      if (std::from_chars(value->data(), value->data() + value->size(), seconds).ec == std::errc{} &&
          seconds >= 0)
        t.answer.retry_after = std::chrono::seconds(seconds);
    }
    if (auto value = value_of(line, "x-should-retry"); value == "true" || value == "false")
      t.answer.should_retry = value == "true";
    return line.size();
  }

  // -- deadlines ----------------------------------------------------------------------------------
  void look_at(monotonic::time_point when) {
    if (looks_at_ && *looks_at_ <= when) return;
    looks_at_ = when;
    deadlines_.expires_at(when);
    deadlines_.async_wait([this, alive = alive_](const boost::system::error_code& ec) {
      if (ec || !*alive) return;
      looks_at_.reset();
      end_what_is_late();
    });
  }

  void end_what_is_late() {
    auto now = monotonic::now();
    std::vector<handle> late;
    for (auto& [id, t] : transfers_) {
      note_what_was_sent(*t, now);
      if (t->deadline() <= now)
        late.push_back(id);
      else
        look_at(t->deadline());
    }
    for (auto id : late) {
      auto it = transfers_.find(id);
      if (it == transfers_.end()) continue; // aborted by what another one's end led to
      auto& t = *it->second;
      auto waited = t.ends_at <= now ? "no answer within " + in_seconds(t.request.timeout)
                                     : "not a byte for " + in_seconds(t.request.silence_timeout);
      if (!end(it, client_failure{client_failure::kind::timeout, std::move(waited)})) return;
    }
  }

  // A large body on a slow line is not silence.
  static void note_what_was_sent(transfer& t, monotonic::time_point now) {
    curl_off_t sent = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
    if (std::exchange(t.sent, sent) != sent) t.heard_at = now;
  }

  static std::string in_seconds(std::chrono::milliseconds t) {
    return fmt::format("{} seconds", static_cast<double>(t.count()) / 1000);
  }

  // -- curl's wishes ------------------------------------------------------------------------------
  static int on_timer(CURLM*, long ms, void* user) {
    auto* self = static_cast<curl_client*>(user);
    if (ms <= 0) {
      self->timer_.cancel();
      if (ms == 0) self->act_soon();
      return 0;
    }
    self->timer_.expires_after(std::chrono::milliseconds(ms));
    self->timer_.async_wait([self, alive = self->alive_](const boost::system::error_code& ec) {
      if (!ec && *alive) self->act(CURL_SOCKET_TIMEOUT, 0);
    });
    return 0;
  }

  // Every transfer begins with a timer of 0 ms. A posted turn costs less than the kernel's timer.
  void act_soon() {
    if (std::exchange(posted_, true)) return;
    asio::post(io_, [this, alive = alive_] {
      if (!*alive) return;
      posted_ = false;
      act(CURL_SOCKET_TIMEOUT, 0);
    });
  }

  static int on_socket(CURL*, curl_socket_t fd, int what, void* user, void*) {
    auto* self = static_cast<curl_client*>(user);
    if (what == CURL_POLL_REMOVE) {
      self->sockets_.erase(fd); // gives the descriptor back before curl closes it
      return 0;
    }
    auto& w = self->sockets_[fd];
    if (!w) w = std::make_shared<watched>(self->io_, fd);
    w->wanted = what;
    self->watch(fd, w);
    return 0;
  }

  void watch(curl_socket_t fd, const std::shared_ptr<watched>& w) {
    auto wait = [&](bool& flag, auto type, int event, int poll) {
      if (flag || !(w->wanted & poll)) return;
      flag = true;
      std::weak_ptr<watched> weak = w;
      w->descriptor.async_wait(
          type, [this, alive = alive_, fd, weak, event, &flag, poll](const boost::system::error_code& ec) {
            auto still = weak.lock();
            if (!*alive || !still) return;
            flag = false;
            if (!(still->wanted & poll)) return;
            act(fd, ec ? CURL_CSELECT_ERR : event);
            // Still wanted after curl has acted: wait again.
            if (auto it = sockets_.find(fd); *alive && it != sockets_.end() && it->second == still)
              watch(fd, still);
          });
    };
    using asio::posix::stream_descriptor;
    wait(w->reading, stream_descriptor::wait_read, CURL_CSELECT_IN, CURL_POLL_IN);
    wait(w->writing, stream_descriptor::wait_write, CURL_CSELECT_OUT, CURL_POLL_OUT);
  }

  void act(curl_socket_t fd, int events) {
    int running = 0;
    curl_multi_socket_action(multi_, fd, events, &running);
    collect();
  }

  // Hands out the transfers that have ended.
  void collect() {
    int left = 0;
    while (auto* m = curl_multi_info_read(multi_, &left)) {
      if (m->msg != CURLMSG_DONE) continue;
      transfer* t = nullptr;
      curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
      if (!end(transfers_.find(t->id), outcome_of(*t, m->data.result))) return;
    }
  }

  // False where this client has gone with it.
  bool end(transfer_place it, outcome o) {
    curl_multi_remove_handle(multi_, it->second->easy.get());
    auto done = std::move(it->second->done);
    retire(it);
    auto alive = alive_;
    done(std::move(o));
    return *alive;
  }

  static outcome outcome_of(transfer& t, CURLcode code) {
    using kind = client_failure::kind;
    if (code == CURLE_OK) {
      long status = 0;
      curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
      t.answer.status = static_cast<int>(status);
      char* type = nullptr;
      curl_easy_getinfo(t.easy.get(), CURLINFO_CONTENT_TYPE, &type);
      if (type) t.answer.content_type = type;
      return std::move(t.answer);
    }
    std::string message = t.problem[0] ? t.problem : curl_easy_strerror(code);
    if (t.too_large)
      return client_failure{kind::too_large,
                            "the answer is larger than " + std::to_string(t.request.max_answer) + " bytes"};
    return client_failure{code == CURLE_OPERATION_TIMEDOUT ? kind::timeout : kind::connection,
                          std::move(message)};
  }

  // A transfer may end inside one of its own callbacks: it is destroyed afterwards.
  void retire(transfer_place it) {
    auto dead = std::shared_ptr<transfer>(std::move(it->second));
    transfers_.erase(it);
    asio::post(io_, [dead] {});
    if (!transfers_.empty()) return;
    deadlines_.cancel(); // an io_context with nothing else to do ends its run
    looks_at_.reset();
  }

  asio::io_context& io_;
  asio::steady_timer timer_, deadlines_;
  std::optional<monotonic::time_point> looks_at_; // the next of the deadlines, or one that has passed by
  bool posted_ = false;                           // curl is to act in the next turn of the loop
  CURLM* multi_;
  transfers transfers_;
  std::unordered_map<curl_socket_t, std::shared_ptr<watched>> sockets_;
  handle last_id_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace

std::unique_ptr<http_client> make_http_client(asio::io_context& io) {
  static const bool once = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  (void)once;
  return std::make_unique<curl_client>(io);
}

awaitable<boost::system::result<client_answer, client_failure>> fetch(http_client& client,
                                                                      client_request request) {
  using answer = boost::system::result<client_answer, client_failure>;
  auto initiate = [&client, request = std::move(request)](auto handler) mutable {
    auto resume = std::make_shared<decltype(handler)>(std::move(handler));
    client.start(std::move(request), nullptr, [resume](answer a) { std::move (*resume)(std::move(a)); });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(answer)>(std::move(initiate),
                                                                                       asio::use_awaitable);
}

} // namespace troupe::net
