// JSON text in and out. Values are Boost.JSON's; the printing is ours, because the API's texts are Python's: floats
// as repr() prints them, two layouts of json.dumps, and repr() itself inside strings (reference: agent-loop §0).
#pragma once

#include "core/base/error.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe::json {

using value = boost::json::value;
using object = boost::json::object;
using array = boost::json::array;

// How deep a document may nest before it is refused.
inline constexpr std::size_t max_depth = 200;

// Why a text is no JSON, in the words of Python's decoder, with the position in code points.
struct syntax_error {
  std::string message;
  std::size_t position = 0;
  bool unreadable =
      false; // not UTF-8, or nested too deep: Python's decoder does not get as far as a position
};

// Parses a whole document. Lone UTF-16 surrogates in escapes are dropped instead of refused, as clients that cut
// texts in the middle of an emoji send them.
boost::system::result<value, syntax_error> parse(std::string_view text);
// For texts of our own making and for tool arguments: nothing on any error.
std::optional<value> try_parse(std::string_view text);

// Finds the first error the way Python's json module does. Only called for texts that did not parse.
syntax_error diagnose(std::string_view text);

// -- printing -------------------------------------------------------------------------------------
// {"a":1,"b":[1.0,"é"]}: compact, UTF-8 (the API's bodies).
void print(std::string& out, const value& v);
void print(std::string& out, const object& v);
std::string print(const value& v);
void print_string(std::string& out, std::string_view s);
void print_double(std::string& out, double d);

// json.dumps(v, indent=2, ensure_ascii=False), NUL characters removed ("packed JSON").
std::string print_packed(const value& v);
// json.dumps(v): one line, ", " and ": ", ASCII only (tool-call arguments).
std::string print_python(const value& v);
// repr(v) of the Python object that v decodes to.
std::string python_repr(const value& v);
std::string python_repr(std::string_view s);
// str(v): as repr, but a string is itself.
std::string python_str(const value& v);

// -- reading by hand ------------------------------------------------------------------------------
// The member, or null where `v` is no object or has no such member.
const value* find(const value& v, std::string_view key) noexcept;
const value* find(const object& o, std::string_view key) noexcept;
// The member's text, or the fallback.
std::string_view string_or(const value& v, std::string_view key, std::string_view fallback = {}) noexcept;
std::string_view string_or(const object& o, std::string_view key, std::string_view fallback = {}) noexcept;
std::string_view string_or(value&&, std::string_view, std::string_view = {}) = delete; // would dangle
std::int64_t int_or(const value& v, std::string_view key, std::int64_t fallback) noexcept;
inline std::string_view view(const boost::json::string& s) noexcept { return {s.data(), s.size()}; }

} // namespace troupe::json
