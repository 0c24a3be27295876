// Reading: the parser is Boost.JSON's, the errors are Python's.
#include "core/base/text.hpp"
#include "core/json/value.hpp"

#include <boost/json/parse.hpp>

namespace troupe::json {

namespace {

boost::json::parse_options options() {
  boost::json::parse_options o;
  o.max_depth = max_depth;
  return o;
}

constexpr int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// The code unit of a \uXXXX escape at `at`, or -1.
int escaped_unit(std::string_view s, std::size_t at) {
  if (at + 6 > s.size() || s[at] != '\\' || s[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    int d = hex_digit(s[i]);
    if (d < 0) return -1;
    unit = unit * 16 + d;
  }
  return unit;
}

std::string without_lone_surrogates(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    if (s[i] != '\\' || i + 1 >= s.size()) {
      out.push_back(s[i++]);
      continue;
    }
    int unit = escaped_unit(s, i);
    bool high = unit >= 0xd800 && unit < 0xdc00, low = unit >= 0xdc00 && unit < 0xe000;
    if (high) {
      int next = escaped_unit(s, i + 6);
      if (next >= 0xdc00 && next < 0xe000) {
        out += s.substr(i, 12);
        i += 12;
        continue;
      }
    }
    if (high || low) {
      i += 6;
      continue;
    }
    std::size_t n = unit >= 0 ? 6 : 2;
    out += s.substr(i, n);
    i += n;
  }
  return out;
}

// A recogniser that goes the way of Python's decoder, to name the same error at the same place. Nesting is kept on
// a stack of its own, so a hostile text cannot exhaust ours.
class python_decoder {
public:
  explicit python_decoder(std::string_view text) : s_(text) {}

  syntax_error run() {
    if (!text::is_utf8(s_)) return {"invalid UTF-8", 0, true};
    space();
    if (scan()) {
      space();
      if (at_ < s_.size()) fail("Extra data", at_);
    }
    if (error_.message.empty()) error_ = {"Expecting value", 0, false};
    if (!error_.unreadable) error_.position = text::length(s_.substr(0, error_.position));
    return error_;
  }

private:
  void space() {
    while (at_ < s_.size() && std::string_view(" \t\n\r").find(s_[at_]) != std::string_view::npos) ++at_;
  }
  bool fail(const char* message, std::size_t at) {
    if (error_.message.empty()) error_ = {message, at, false};
    return false;
  }
  bool peek(char c) const { return at_ < s_.size() && s_[at_] == c; }

  bool scan() {
    std::string open; // one '{' or '[' per level
    for (;;) {
      if (open.size() > max_depth) {
        error_ = {"nested too deep", 0, true};
        return false;
      }
      if (peek('{') || peek('[')) {
        bool is_object = s_[at_] == '{';
        open.push_back(s_[at_++]);
        space();
        if (peek(is_object ? '}' : ']')) {
          ++at_;
          open.pop_back();
        } else if (is_object) {
          if (!key()) return false;
          continue;
        } else {
          continue;
        }
      } else if (!scalar()) {
        return false;
      }
      if (!close(open)) return false;
      if (open.empty()) return true;
    }
  }

  // After a value: closes what ends here; true when at the next value or at the end of all.
  bool close(std::string& open) {
    while (!open.empty()) {
      space();
      bool is_object = open.back() == '{';
      if (peek(is_object ? '}' : ']')) {
        ++at_;
        open.pop_back();
        continue;
      }
      if (!peek(',')) return fail("Expecting ',' delimiter", at_);
      ++at_;
      space();
      return is_object ? key() : true;
    }
    return true;
  }

  bool key() {
    if (!peek('"')) return fail("Expecting property name enclosed in double quotes", at_);
    if (!string()) return false;
    space();
    if (!peek(':')) return fail("Expecting ':' delimiter", at_);
    ++at_;
    space();
    return true;
  }

  bool string() {
    std::size_t begin = at_++;
    for (; at_ < s_.size(); ++at_) {
      auto c = static_cast<unsigned char>(s_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return fail("Invalid control character at", at_);
      if (c != '\\') continue;
      if (++at_ >= s_.size()) break;
      if (s_[at_] == 'u') {
        if (escaped_unit(s_, at_ - 1) < 0) return fail("Invalid \\uXXXX escape", at_);
      } else if (std::string_view("\"\\/bfnrt").find(s_[at_]) == std::string_view::npos) {
        return fail("Invalid \\escape", at_ - 1);
      }
    }
    return fail("Unterminated string starting at", begin);
  }

  bool scalar() {
    if (peek('"')) return string();
    for (std::string_view word : {"null", "true", "false"})
      if (s_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    std::size_t begin = at_;
    if (peek('-')) ++at_;
    std::size_t digits = at_;
    if (peek('0'))
      ++at_;
    else
      while (at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9') ++at_;
    if (at_ == digits) return fail("Expecting value", begin);
    auto exponent_or_fraction = [&](auto starts) {
      std::size_t save = at_;
      if (!starts()) return void(at_ = save);
      std::size_t first = at_;
      while (at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9') ++at_;
      if (at_ == first) at_ = save;
    };
    exponent_or_fraction([&] { return peek('.') && ++at_; });
    exponent_or_fraction([&] {
      if (!peek('e') && !peek('E')) return false;
      ++at_;
      if (peek('+') || peek('-')) ++at_;
      return true;
    });
    return true;
  }

  std::string_view s_;
  std::size_t at_ = 0;
  syntax_error error_;
};

} // namespace

boost::system::result<value, syntax_error> parse(std::string_view text) {
  boost::json::error_code ec;
  auto v = boost::json::parse({text.data(), text.size()}, ec, {}, options());
  if (!ec) return v;
  // The parser has several errors for a lone surrogate, one of them its general one: so look at the text.
  if (auto mended = without_lone_surrogates(text); mended.size() != text.size()) {
    v = boost::json::parse({mended.data(), mended.size()}, ec, {}, options());
    if (!ec) return v;
  }
  return diagnose(text);
}

std::optional<value> try_parse(std::string_view text) {
  boost::json::error_code ec;
  auto v = boost::json::parse({text.data(), text.size()}, ec, {}, options());
  if (ec) return std::nullopt;
  return v;
}

syntax_error diagnose(std::string_view text) { return python_decoder(text).run(); }

} // namespace troupe::json
