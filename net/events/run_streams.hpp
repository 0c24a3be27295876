// The event logs of runs: written by agents (through the actor) and by the models' tokens (directly), read by any
// number of connections, each at its own pace. Everything here lives on the I/O thread.
#pragma once

#include "actors/actors.hpp"
#include "core/base/environment.hpp"
#include "net/http/message.hpp"

#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <unordered_map>

namespace troupe::net {

struct stream_limits {
  std::size_t max_frames = 10'000; // of one log; a reader that falls behind them is cut off
  std::size_t max_bytes = 16 << 20;
  std::chrono::seconds keep_background{3 * 3600}; // after the end
  std::chrono::seconds keep_unread{60};           // a foreground log that nobody has come for
  std::chrono::seconds max_silence{1800};         // of a stream that only pings
};

// One run's events. The first has number 1.
struct run_log {
  run_id run;
  std::deque<actors::stream_frame> frames;
  std::uint64_t first = 1; // number of frames.front()
  std::size_t bytes = 0;
  bool open = false; // the run is durable: readers may see it
  bool background = false;
  bool ended = false;
  bool restored = false; // made from what is stored: its numbers are not those of the log before
  std::int64_t touched_ns = 0;
  std::vector<asio::steady_timer*> waiting;

  std::uint64_t end() const { return first + frames.size(); }
  void wake();
};

class run_streams {
public:
  run_streams(asio::io_context& io, environment& env, stream_limits limits)
      : io_(io), env_(env), limits_(limits) {}

  // The run is durable; `first` goes before everything that came early.
  void open(const run_id& run, bool background, std::optional<actors::stream_frame> first);
  void append(const run_id& run, actors::stream_frame frame);
  void end(const run_id& run);

  // A log of a background run that is not in memory, with what is stored of it.
  void restore(const run_id& run, std::vector<actors::stream_frame> frames, bool ended);

  // A reader of what comes after event number `after`. Of a run that was just accepted the log may not have begun yet.
  std::shared_ptr<http::event_source> attach(const run_id& run, std::uint64_t after, bool pings);
  bool knows(const run_id& run) const { return logs_.contains(run); }
  // Nothing was durable: forget what came early.
  void drop(const run_id& run) { logs_.erase(run); }

  // What to do when a run has ended whose client wants to be called.
  std::function<void(const run_id&)> on_callback;

  // Forgets what nobody will read any more; call it now and then.
  void sweep();
  std::size_t size() const noexcept { return logs_.size(); }
  asio::io_context& io() noexcept { return io_; }
  environment& env() noexcept { return env_; }
  const stream_limits& limits() const noexcept { return limits_; }

private:
  std::shared_ptr<run_log>& log(const run_id& run);
  void trim(run_log& l);
  void renumber(run_log& l, std::uint64_t after);

  asio::io_context& io_;
  environment& env_;
  stream_limits limits_;
  std::unordered_map<run_id, std::shared_ptr<run_log>> logs_;
};

// The actor in front of it.
actors::streams_actor spawn_streams(caf::actor_system& system, actors::host* host,
                                    std::shared_ptr<run_streams> streams);

} // namespace troupe::net
