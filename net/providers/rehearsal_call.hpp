// Acts out a performance of the built-in model: says its pieces with their delays, then gives the whole
// reply. On the I/O thread.
#pragma once

#include "core/protocol/model_request.hpp"
#include "core/rehearsal/script.hpp"
#include "net/io/awaitable.hpp"

#include <boost/asio/steady_timer.hpp>

#include <functional>

namespace troupe::net {

class rehearsal_call {
public:
  using on_piece = std::function<void(const project::delta&)>;
  using on_end = std::function<void(result<model_reply>)>;

  // `request_bytes` gives the number of prompt tokens where the script says none.
  rehearsal_call(asio::io_context& io, rehearsal::performance p, std::size_t request_bytes, on_piece piece,
                 on_end end);
  ~rehearsal_call();

  // Begins; `end` is called once, not from inside this function, unless the call is destroyed first.
  void start(bool stream, std::chrono::milliseconds timeout);

private:
  void next();
  void say(const rehearsal::action& a);
  void later(std::chrono::milliseconds pause);
  void finish(result<model_reply> r);

  asio::io_context& io_;
  rehearsal::performance p_;
  std::size_t request_bytes_;
  on_piece piece_;
  on_end end_;
  asio::steady_timer timer_, deadline_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::size_t at_ = 0;             // the action that comes next
  std::vector<std::string> words_; // of a text that is being said
  std::size_t word_ = 0;
  bool reasoning_ = false; // the words are thoughts
  bool stream_ = false;
};

} // namespace troupe::net
