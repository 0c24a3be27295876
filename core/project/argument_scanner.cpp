#include "core/project/argument_scanner.hpp"

#include <algorithm>
#include <utility>

namespace troupe::project {

namespace {
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
} // namespace

// -- members --------------------------------------------------------------------------------------
void argument_scanner::feed(std::string_view bytes, std::vector<token>& out) {
  for (char c : bytes) take(c, out);
  if (state_ == state::string || state_ == state::nested || state_ == state::scalar) flush(out);
}

void argument_scanner::flush(std::vector<token>& out) {
  if (!text_.empty()) out.push_back({token::kind::piece, std::exchange(text_, {})});
}

void argument_scanner::end_value(std::vector<token>& out, state next) {
  flush(out);
  out.push_back({token::kind::end, {}});
  state_ = next;
  if (next == state::done) out.push_back({token::kind::done, {}});
}

// Of a string whose first quote is past.
bool argument_scanner::closes_string(char c) {
  if (std::exchange(escaped_, false)) return false;
  escaped_ = c == '\\';
  return c == '"';
}

void argument_scanner::begin_value(char c) {
  text_.assign(1, c);
  depth_ = 1;
  state_ = c == '"' ? state::string : c == '{' || c == '[' ? state::nested : state::scalar;
}

void argument_scanner::take(char c, std::vector<token>& out) {
  switch (state_) {
  case state::before:
    if (is_space(c)) return;
    state_ = c == '{' ? state::member : state::done;
    if (c != '{') out.push_back({token::kind::done, {}});
    return;
  case state::member:
  case state::after:
    if (c == '"' && state_ == state::member) {
      text_ = "\"";
      state_ = state::key;
    } else if (c == ',') {
      state_ = state::member;
    } else if (c == '}') {
      state_ = state::done;
      out.push_back({token::kind::done, {}});
    }
    return;
  case state::key:
    text_.push_back(c);
    if (!closes_string(c)) return;
    out.push_back({token::kind::key, std::exchange(text_, {})});
    state_ = state::colon;
    return;
  case state::colon:
    if (c == ':') state_ = state::value;
    return;
  case state::value:
    if (!is_space(c)) begin_value(c);
    return;
  case state::string:
    text_.push_back(c);
    if (closes_string(c)) end_value(out, state::after);
    return;
  case state::nested:
    text_.push_back(c);
    if (in_string_) {
      in_string_ = !closes_string(c);
      return;
    }
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && --depth_ == 0) end_value(out, state::after);
    return;
  case state::scalar:
    if (c == ',') return end_value(out, state::member);
    if (c == '}') return end_value(out, state::done);
    if (is_space(c)) return end_value(out, state::after);
    text_.push_back(c);
    return;
  case state::done: return;
  }
}

// -- strings --------------------------------------------------------------------------------------
namespace {

void append_utf8(std::string& out, std::uint32_t c) {
  auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3f))); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (c >> 6)));
    tail(0);
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (c >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | (c >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::uint32_t hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  return static_cast<std::uint32_t>((c | 0x20) - 'a' + 10) & 0xf;
}

char unescaped(char c) {
  switch (c) {
  case 'n': return '\n';
  case 't': return '\t';
  case 'r': return '\r';
  case 'b': return '\b';
  case 'f': return '\f';
  default: return c;
  }
}

} // namespace

std::string string_decoder::feed(std::string_view bytes) {
  for (char c : bytes) take(c);
  return take_whole_characters(out_);
}

void string_decoder::take(char c) {
  if (digits_ > 0) {
    unit_ = unit_ << 4 | hex_value(c);
    if (--digits_ == 0) take_unit(unit_);
    return;
  }
  if (std::exchange(escaped_, false)) {
    if (c == 'u') {
      digits_ = 4;
      unit_ = 0;
    } else {
      high_ = 0;
      out_.push_back(unescaped(c));
    }
    return;
  }
  escaped_ = c == '\\';
  if (escaped_) return;
  high_ = 0;
  if (c != '"') out_.push_back(c); // bare, it is the first or the last
}

void string_decoder::take_unit(std::uint32_t unit) {
  auto high = std::exchange(high_, 0);
  if (unit >= 0xd800 && unit < 0xdc00)
    high_ = unit;
  else if (unit < 0xdc00 || unit > 0xdfff)
    append_utf8(out_, unit);
  else if (high != 0)
    append_utf8(out_, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
}

std::string take_whole_characters(std::string& bytes) {
  auto at = bytes.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    auto c = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    std::size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (length > back) at = bytes.size() - back;
    break;
  }
  auto out = bytes.substr(0, at);
  bytes.erase(0, at);
  return out;
}

} // namespace troupe::project
