// Server-sent events, as far as providers use them (HTML Living Standard §9.2): bytes in any pieces -> events.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace troupe {

class sse_splitter {
public:
  // Called for each event that has data. `name` is empty where the event has none.
  using visitor = std::function<void(std::string_view name, std::string_view data)>;

  explicit sse_splitter(std::size_t max_event = 16 << 20) : max_event_(max_event) {}

  // False where an event grows beyond the limit; what follows is ignored.
  bool feed(std::string_view bytes, const visitor& visit);
  // The end of the stream: an event without its blank line still counts.
  void finish(const visitor& visit);

private:
  void line(std::string_view l, const visitor& visit);
  void dispatch(const visitor& visit);

  std::size_t max_event_;
  std::string pending_; // an unfinished line
  std::string name_, data_;
  bool has_data_ = false;
  bool skip_newline_ = false; // after a CR
};

} // namespace troupe
