#include "net/events/run_streams.hpp"

#include "core/base/text.hpp"
#include "core/turn/output.hpp"

#include <algorithm>

namespace troupe::net {

void run_log::wake() {
  for (auto* timer : waiting) timer->cancel();
}

std::shared_ptr<run_log>& run_streams::log(const run_id& run) {
  auto& l = logs_[run];
  if (!l) {
    l = std::make_shared<run_log>();
    l->run = run;
  }
  l->touched_ns = env_.monotonic_ns();
  return l;
}

void run_streams::open(const run_id& run, bool background, std::optional<actors::stream_frame> first) {
  auto& l = log(run);
  l->background = background;
  if (first && !l->open) {
    l->bytes += first->data.size();
    l->frames.push_front(std::move(*first));
  }
  l->open = true;
  l->wake();
}

void run_streams::append(const run_id& run, actors::stream_frame frame) {
  auto& l = log(run);
  if (l->ended) return;
  frame.data.shrink_to_fit(); // it stays for a while, and was written piece by piece
  l->bytes += frame.data.size();
  l->frames.push_back(std::move(frame));
  trim(*l);
  if (l->open) l->wake();
}

void run_streams::trim(run_log& l) {
  while (l.frames.size() > limits_.max_frames || (l.bytes > limits_.max_bytes && l.frames.size() > 1)) {
    l.bytes -= l.frames.front().data.size();
    l.frames.pop_front();
    ++l.first;
  }
}

void run_streams::end(const run_id& run) {
  auto& l = log(run);
  l->ended = true;
  l->wake();
}

void run_streams::restore(const run_id& run, std::vector<actors::stream_frame> frames, bool ended) {
  if (knows(run)) return;
  auto& l = *log(run);
  l.background = l.open = l.restored = true;
  for (auto& f : frames) append(run, std::move(f));
  l.ended = ended;
}

// A reader of the log before a restart has seen more events than the stored ones are: what comes next has to come
// after those for it.
void run_streams::renumber(run_log& l, std::uint64_t after) {
  if (l.restored && !l.ended && l.waiting.empty() && after >= l.end()) l.first += after + 1 - l.end();
}

void run_streams::sweep() {
  auto now = env_.monotonic_ns();
  std::erase_if(logs_, [&](auto& entry) {
    auto& l = *entry.second;
    if (!l.ended || entry.second.use_count() > 1) return false;
    auto keep = l.background ? limits_.keep_background : limits_.keep_unread;
    return now - l.touched_ns > std::chrono::nanoseconds(keep).count();
  });
}

namespace {

// One connection's view of a log.
class log_reader final : public http::event_source {
public:
  log_reader(run_streams& streams, std::shared_ptr<run_log> log, std::uint64_t after, bool pings)
      : streams_(streams),
        log_(std::move(log)),
        next_(after + 1),
        pings_(pings),
        timer_(streams.io()),
        heard_ns_(streams.env().monotonic_ns()) {
    log_->waiting.push_back(&timer_);
  }
  ~log_reader() override {
    std::erase(log_->waiting, &timer_);
    // A foreground log has one reader, and goes with it.
    if (!log_->background && log_->ended) streams_.drop(log_->run);
  }

  awaitable<std::optional<pieces>> next(std::chrono::milliseconds patience) override {
    while (!left_) {
      if (log_->open) {
        if (next_ < log_->first) co_return std::nullopt; // fell behind what is kept
        if (next_ < log_->end()) {
          heard_ns_ = streams_.env().monotonic_ns();
          co_return take();
        }
        if (log_->ended) co_return std::nullopt;
      }
      timer_.expires_after(patience);
      auto [ec] = co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (ec) continue; // woken: something is there, or nobody reads
      auto silence = streams_.env().monotonic_ns() - heard_ns_;
      if (silence > std::chrono::nanoseconds(streams_.limits().max_silence).count()) co_return std::nullopt;
      co_return pieces{};
    }
    co_return std::nullopt;
  }

  void leave() override {
    left_ = true;
    timer_.cancel();
  }

  std::string keep_alive() override {
    if (!pings_) return {};
    std::optional<std::int64_t> seq;
    if (log_->background) seq = static_cast<std::int64_t>(next_ - 1);
    return "data: " + turn::ping(log_->run, streams_.env().now(), streams_.env(), seq) + "\n\n";
  }

private:
  // Everything that is there.
  pieces take() {
    pieces out;
    for (; next_ < log_->end(); ++next_) {
      auto& f = log_->frames[next_ - log_->first];
      auto& piece = out.emplace_back(f.is_error ? "event: error\ndata: " : "data: ");
      piece.append(log_->background ? numbered(f.data, next_) : f.data).append("\n\n");
    }
    return out;
  }

  // In the background every event that has room for its number and its run carries them.
  std::string numbered(const std::string& data, std::uint64_t n) const {
    auto put = [](std::string& s, std::string_view empty, const std::string& full) {
      if (auto at = s.find(empty); at != std::string::npos) s.replace(at, empty.size(), full);
    };
    std::string out = data;
    put(out, R"("seq_id":null)", R"("seq_id":)" + std::to_string(n));
    put(out, R"("run_id":null)", R"("run_id":")" + log_->run.str() + "\"");
    return out;
  }

  run_streams& streams_;
  std::shared_ptr<run_log> log_;
  std::uint64_t next_;
  bool pings_;
  bool left_ = false;
  asio::steady_timer timer_;
  std::int64_t heard_ns_;
};

} // namespace

std::shared_ptr<http::event_source> run_streams::attach(const run_id& run, std::uint64_t after, bool pings) {
  auto& l = log(run);
  renumber(*l, after);
  if (l->restored) after = std::max(after, l->first - 1);
  return std::make_shared<log_reader>(*this, l, after, pings);
}

namespace {

class streams_impl final : public actors::hosted_actor {
public:
  streams_impl(caf::actor_config& cfg, actors::host* h, std::shared_ptr<run_streams> streams)
      : hosted_actor(cfg, h), streams_(std::move(streams)) {}
  const char* name() const override { return "streams"; }
  caf::behavior make_behavior() override {
    return {
        [this](actors::open_stream& o) { streams_->open(o.run, o.background, std::move(o.first)); },
        [this](actors::publish& p) {
          for (auto& f : p.frames) streams_->append(p.run, std::move(f));
          if (p.last) streams_->end(p.run);
        },
        [this](actors::callback_atom, const uuid& run) {
          if (streams_->on_callback) streams_->on_callback(run_id{run});
        },
    };
  }

private:
  std::shared_ptr<run_streams> streams_;
};

} // namespace

actors::streams_actor spawn_streams(caf::actor_system& system, actors::host* host,
                                    std::shared_ptr<run_streams> streams) {
  return caf::actor_cast<actors::streams_actor>(system.spawn<streams_impl>(host, std::move(streams)));
}

} // namespace troupe::net
