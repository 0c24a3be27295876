#include "net/providers/rehearsal_call.hpp"

#include "core/rehearsal/reply.hpp"

#include <boost/asio/post.hpp>

namespace troupe::net {

namespace {

using kind = rehearsal::action::kind;

// Words with the space behind them, as models send them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < text.size();) {
    auto space = text.find(' ', from);
    auto to = space == std::string::npos ? text.size() : space + 1;
    out.push_back(text.substr(from, to - from));
    from = to;
  }
  return out;
}

} // namespace

rehearsal_call::rehearsal_call(asio::io_context& io, rehearsal::performance p, std::size_t request_bytes,
                               on_piece piece, on_end end)
    : io_(io),
      p_(std::move(p)),
      request_bytes_(request_bytes),
      piece_(std::move(piece)),
      end_(std::move(end)),
      timer_(io),
      deadline_(io) {}

rehearsal_call::~rehearsal_call() { *alive_ = false; }

void rehearsal_call::start(bool stream, std::chrono::milliseconds timeout) {
  stream_ = stream;
  deadline_.expires_after(timeout);
  deadline_.async_wait([this, alive = alive_](const boost::system::error_code& ec) {
    if (!ec && *alive)
      finish(llm_failure(errc::llm_timeout, "LLMTimeoutError",
                         "TIMEOUT: Request to the rehearsal model timed out"));
  });
  asio::post(io_, [this, alive = alive_] {
    if (*alive) next();
  });
}

void rehearsal_call::later(std::chrono::milliseconds pause) {
  timer_.expires_after(pause);
  timer_.async_wait([this, alive = alive_](const boost::system::error_code& ec) {
    if (!ec && *alive) next();
  });
}

// Goes on until there is something to wait for, or nothing left.
void rehearsal_call::next() {
  auto alive = alive_;
  while (*alive) {
    if (word_ < words_.size()) {
      auto what = reasoning_ ? project::delta::kind::reasoning : project::delta::kind::text;
      piece_({what, words_[word_++], {}, {}, {}, {}});
      if (stream_ && p_.token_delay_ms > 0) return later(std::chrono::milliseconds(p_.token_delay_ms));
      continue;
    }
    if (at_ == p_.actions.size()) return finish(rehearsal::reply_of(p_, request_bytes_));
    auto& a = p_.actions[at_++];
    if (a.what == kind::hang) return; // until the deadline
    if (a.what == kind::delay) return later(std::chrono::milliseconds(a.milliseconds));
    if (a.what == kind::error) return finish(rehearsal::failure_of(a));
    say(a);
  }
}

void rehearsal_call::say(const rehearsal::action& a) {
  if (a.what == kind::call) {
    piece_({project::delta::kind::tool_call, {}, a.call_id, a.call_name, {}, {}});
    piece_({project::delta::kind::tool_call, a.arguments, a.call_id, {}, {}, {}});
    return;
  }
  words_ = words_of(a.text);
  word_ = 0;
  reasoning_ = a.what == kind::reasoning;
}

void rehearsal_call::finish(result<model_reply> r) {
  *alive_ = false;
  deadline_.cancel();
  timer_.cancel();
  auto end = std::move(end_);
  end(std::move(r));
}

} // namespace troupe::net
