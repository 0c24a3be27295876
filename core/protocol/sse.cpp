#include "core/protocol/sse.hpp"

namespace troupe {

bool sse_splitter::feed(std::string_view bytes, const visitor& visit) {
  while (!bytes.empty()) {
    if (skip_newline_ && bytes.front() == '\n') bytes.remove_prefix(1);
    skip_newline_ = false;
    auto end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      pending_ += bytes;
      return pending_.size() + data_.size() <= max_event_;
    }
    skip_newline_ = bytes[end] == '\r';
    if (pending_.empty()) {
      line(bytes.substr(0, end), visit);
    } else {
      pending_ += bytes.substr(0, end);
      auto whole = std::move(pending_);
      pending_.clear();
      line(whole, visit);
    }
    bytes.remove_prefix(end + 1);
    if (data_.size() > max_event_) return false;
  }
  return true;
}

void sse_splitter::finish(const visitor& visit) {
  if (!pending_.empty()) {
    auto whole = std::move(pending_);
    pending_.clear();
    line(whole, visit);
  }
  dispatch(visit);
}

void sse_splitter::line(std::string_view l, const visitor& visit) {
  if (l.empty()) return dispatch(visit);
  auto colon = l.find(':');
  if (colon == 0) return; // a comment
  auto field = l.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view{} : l.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field != "data") return;
  if (has_data_) data_.push_back('\n');
  data_ += value;
  has_data_ = true;
}

void sse_splitter::dispatch(const visitor& visit) {
  if (has_data_) {
    auto name = std::move(name_), data = std::move(data_);
    name_.clear();
    data_.clear();
    has_data_ = false;
    visit(name, data);
    return;
  }
  name_.clear();
}

} // namespace troupe
