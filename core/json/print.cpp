// Printing: compact JSON, and the two layouts of json.dumps and repr() that the API's texts hold.
#include "core/base/text.hpp"
#include "core/json/value.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace troupe::json {

namespace {

// Whether one of eight characters has to be escaped: a quote, a backslash or a control character.
// Each byte is tested by itself, without branches ("determine if a word has a byte less than n", Bit Twiddling Hacks).
bool has_special(const char* eight) {
  constexpr std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  std::uint64_t w = 0;
  std::memcpy(&w, eight, sizeof w);
  auto below = [](std::uint64_t x, std::uint64_t n) { return (x - ones * n) & ~x & high; };
  return (below(w, 0x20) | below(w ^ (ones * '"'), 1) | below(w ^ (ones * '\\'), 1)) != 0;
}

// Where the next character is that has to be escaped, from `i` on; the size where there is none.
std::size_t next_special(std::string_view s, std::size_t i) {
  while (i + 8 <= s.size() && !has_special(s.data() + i)) i += 8;
  auto plain = [](unsigned char c) { return c >= 0x20 && c != '"' && c != '\\'; };
  while (i < s.size() && plain(static_cast<unsigned char>(s[i]))) ++i;
  return i;
}

void print_escaped(std::string& out, std::string_view s) {
  for (std::size_t from = 0;;) {
    auto i = next_special(s, from);
    out.append(s, from, i - from);
    if (i == s.size()) return;
    from = i + 1;
    switch (auto c = static_cast<unsigned char>(s[i])) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    default: {
      char buf[8];
      std::snprintf(buf, sizeof buf, "\\u%04x", c);
      out += buf;
    }
    }
  }
}

// One code point of well-formed UTF-8; moves past it. A stray byte counts as itself.
char32_t next_code_point(std::string_view s, std::size_t& i) {
  auto c = static_cast<unsigned char>(s[i]);
  std::size_t more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  char32_t point = more == 0 ? c : static_cast<char32_t>(c & (0x3f >> more));
  for (++i; more > 0 && i < s.size(); --more, ++i)
    point = point << 6 | (static_cast<unsigned char>(s[i]) & 0x3f);
  return point;
}

void print_ascii_string(std::string& out, std::string_view s) {
  out.push_back('"');
  for (std::size_t i = 0; i < s.size();) {
    if (static_cast<unsigned char>(s[i]) < 0x80) {
      print_escaped(out, s.substr(i++, 1));
      continue;
    }
    char32_t p = next_code_point(s, i);
    char buf[16];
    if (p >= 0x10000)
      std::snprintf(buf, sizeof buf, "\\u%04x\\u%04x", static_cast<unsigned>(0xd800 + ((p - 0x10000) >> 10)),
                    static_cast<unsigned>(0xdc00 + ((p - 0x10000) & 0x3ff)));
    else
      std::snprintf(buf, sizeof buf, "\\u%04x", static_cast<unsigned>(p));
    out += buf;
  }
  out.push_back('"');
}

struct style {
  bool ascii = false;
  int indent = -1; // spaces a level; -1: one line
  std::string_view item = ",", member = ":";
};

void print_text(std::string& out, std::string_view s, const style& st) {
  st.ascii ? print_ascii_string(out, s) : print_string(out, s);
}

void print_line(std::string& out, const style& st, int level) {
  if (st.indent < 0) return;
  out.push_back('\n');
  out.append(static_cast<std::size_t>(st.indent) * static_cast<std::size_t>(level), ' ');
}

void print_styled(std::string& out, const value& v, const style& st, int level);

void print_styled(std::string& out, const object& o, const style& st, int level) {
  out.push_back('{');
  bool first = true;
  for (auto& [key, member] : o) {
    if (!first) out += st.item;
    first = false;
    print_line(out, st, level + 1);
    print_text(out, {key.data(), key.size()}, st);
    out += st.member;
    print_styled(out, member, st, level + 1);
  }
  if (!o.empty()) print_line(out, st, level);
  out.push_back('}');
}

void print_styled(std::string& out, const array& a, const style& st, int level) {
  out.push_back('[');
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i) out += st.item;
    print_line(out, st, level + 1);
    print_styled(out, a[i], st, level + 1);
  }
  if (!a.empty()) print_line(out, st, level);
  out.push_back(']');
}

void print_styled(std::string& out, const value& v, const style& st, int level) {
  switch (v.kind()) {
  case boost::json::kind::null: out += "null"; return;
  case boost::json::kind::bool_: out += v.get_bool() ? "true" : "false"; return;
  case boost::json::kind::int64: out += std::to_string(v.get_int64()); return;
  case boost::json::kind::uint64: out += std::to_string(v.get_uint64()); return;
  case boost::json::kind::double_: print_double(out, v.get_double()); return;
  case boost::json::kind::string: print_text(out, view(v.get_string()), st); return;
  case boost::json::kind::array: print_styled(out, v.get_array(), st, level); return;
  case boost::json::kind::object: print_styled(out, v.get_object(), st, level);
  }
}

// What Python's str.isprintable refuses, as far as it matters in ids, names and texts of errors.
bool printable(char32_t p) {
  return !(p < 0x20 || (p >= 0x7f && p <= 0xa0) || p == 0xad || (p >= 0x2028 && p <= 0x202e) ||
           (p >= 0x200b && p <= 0x200f) || p == 0xfeff || (p >= 0xd800 && p < 0xe000));
}

} // namespace

void print_string(std::string& out, std::string_view s) {
  out.push_back('"');
  print_escaped(out, s);
  out.push_back('"');
}

void print_double(std::string& out, double d) {
  if (!std::isfinite(d)) { // JSON has no word for it: a document may say 1e999
    out += "null";
    return;
  }
  char buf[40];
  auto end = std::to_chars(buf, buf + sizeof buf, d, std::chars_format::scientific).ptr;
  std::string_view s(buf, static_cast<std::size_t>(end - buf));
  auto e = s.find('e');
  int exponent = 0;
  auto digits_of_exponent = s.substr(e + (s[e + 1] == '+' ? 2 : 1));
  std::from_chars(digits_of_exponent.data(), digits_of_exponent.data() + digits_of_exponent.size(), exponent);
  if (exponent < -4 || exponent >= 16) { // repr(): 1e-05, 1.5e+16
    out += s;
    return;
  }
  bool negative = s[0] == '-';
  std::string digits;
  for (char c : s.substr(0, e))
    if (c >= '0' && c <= '9') digits.push_back(c);
  if (negative) out.push_back('-');
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out.append(digits, 0, whole).push_back('.');
  digits.size() > whole ? out.append(digits, whole) : out.append("0");
}

void print(std::string& out, const value& v) { print_styled(out, v, style{}, 0); }
void print(std::string& out, const object& v) { print_styled(out, v, style{}, 0); }

std::string print(const value& v) {
  std::string out;
  print(out, v);
  return out;
}

namespace {
// Of printed JSON: escapes of U+0000 go, an escaped backslash before the same letters stays.
std::string without_nul_escapes(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    if (s.substr(i).starts_with("\\u0000")) {
      i += 6;
      continue;
    }
    std::size_t n = s[i] == '\\' ? 2 : 1;
    out += s.substr(i, n);
    i += n;
  }
  return out;
}
} // namespace

std::string print_packed(const value& v) {
  std::string out;
  print_styled(out, v, style{.ascii = false, .indent = 2, .item = ",", .member = ": "}, 0);
  return without_nul_escapes(out);
}

std::string print_python(const value& v) {
  std::string out;
  print_styled(out, v, style{.ascii = true, .indent = -1, .item = ", ", .member = ": "}, 0);
  return out;
}

std::string python_repr(std::string_view s) {
  char quote = s.find('\'') != std::string_view::npos && s.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < s.size();) {
    std::size_t begin = i;
    char32_t p = next_code_point(s, i);
    if (p == static_cast<unsigned char>(quote) || p == '\\')
      out.append("\\").push_back(static_cast<char>(p));
    else if (p == '\n')
      out += "\\n";
    else if (p == '\r')
      out += "\\r";
    else if (p == '\t')
      out += "\\t";
    else if (printable(p))
      out.append(s, begin, i - begin);
    else {
      char buf[16];
      std::snprintf(buf, sizeof buf, p < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(p));
      out += buf;
    }
  }
  out.push_back(quote);
  return out;
}

std::string python_repr(const value& v) {
  switch (v.kind()) {
  case boost::json::kind::null: return "None";
  case boost::json::kind::bool_: return v.get_bool() ? "True" : "False";
  case boost::json::kind::string: return python_repr(view(v.get_string()));
  case boost::json::kind::array: {
    std::string out = "[";
    for (auto& item : v.get_array()) out.append(out.size() > 1 ? ", " : "").append(python_repr(item));
    return out + "]";
  }
  case boost::json::kind::object: {
    std::string out = "{";
    for (auto& [key, member] : v.get_object())
      out.append(out.size() > 1 ? ", " : "")
          .append(python_repr(std::string_view{key.data(), key.size()}))
          .append(": ")
          .append(python_repr(member));
    return out + "}";
  }
  case boost::json::kind::double_: {
    double d = v.get_double();
    if (std::isnan(d)) return "nan";
    if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
    [[fallthrough]];
  }
  default: return print(v);
  }
}

std::string python_str(const value& v) {
  return v.is_string() ? std::string(view(v.get_string())) : python_repr(v);
}

} // namespace troupe::json
