#include "core/json/reader.hpp"

#include "core/base/text.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace troupe::json {

namespace {
// An error shows what was given, but does not send megabytes back.
constexpr std::size_t longest_input = 64 << 10;
} // namespace

bool reader::fail(std::string type, std::string msg, const value& input, std::string ctx) {
  if (!full()) errors_.push_back({std::move(type), path_, std::move(msg), input, std::move(ctx)});
  return false;
}

bool reader::fail_value(const std::string& what, const value& input) {
  return fail("value_error", "Value error, " + what, input,
              "{'error': ValueError(" + python_repr(std::string_view{what}) + ")}");
}

std::string alternatives(const std::vector<std::string_view>& texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i) out += i + 1 == texts.size() ? " or " : ", ";
    out.append("'").append(texts[i]).append("'");
  }
  return out;
}

namespace {
std::string describe_loc(const field_error& e) {
  std::string out = "(";
  for (std::size_t i = 0; i < e.loc.size(); ++i) {
    if (i) out += ", ";
    if (auto* index = std::get_if<std::size_t>(&e.loc[i]))
      out += std::to_string(*index);
    else
      out += python_repr(std::string_view{std::get<std::string>(e.loc[i])});
  }
  return out + (e.loc.size() == 1 ? ",)" : ")");
}

std::string describe_input(const value& v) {
  auto out = python_repr(v);
  if (out.size() <= longest_input) return out;
  return std::string(text::prefix(out, longest_input / 4)) + "...";
}
} // namespace

std::string describe_errors(const std::vector<field_error>& errors) {
  std::string out = "[";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    auto& e = errors[i];
    if (i) out += ", ";
    out += "{'type': " + python_repr(std::string_view{e.type}) + ", 'loc': " + describe_loc(e) +
           ", 'msg': " + python_repr(std::string_view{e.msg}) + ", 'input': " + describe_input(e.input);
    if (!e.ctx.empty()) out += ", 'ctx': " + e.ctx;
    out += "}";
  }
  return out + "]";
}

error to_error(const std::vector<field_error>& errors) {
  return fail(errc::invalid_body, describe_errors(errors));
}

const object* fields_of(reader& r, const value& v) {
  auto* o = v.if_object();
  if (!o)
    r.fail("model_attributes_type", "Input should be a valid dictionary or object to extract fields from", v);
  return o;
}

bool read(reader& r, const value& v, bool& out) {
  if (v.is_bool()) return out = v.get_bool(), true;
  if (v.is_int64() && (v.get_int64() == 0 || v.get_int64() == 1)) return out = v.get_int64() == 1, true;
  if (v.is_string()) {
    auto word = text::lower(view(v.get_string()));
    for (auto yes : {"true", "1", "yes", "on", "t", "y"})
      if (word == yes) return out = true;
    for (auto no : {"false", "0", "no", "off", "f", "n"})
      if (word == no) return out = false, true;
  }
  if (v.is_string() || v.is_int64())
    return r.fail("bool_parsing", "Input should be a valid boolean, unable to interpret input", v);
  return r.fail("bool_type", "Input should be a valid boolean", v);
}

namespace {
// The whole text is this number; blanks around it and a plus sign do no harm.
template <class N> bool spells(std::string_view s, N& out) {
  auto word = text::trim(s);
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), out);
  return ec == std::errc{} && end == word.data() + word.size();
}
} // namespace

bool read(reader& r, const value& v, std::int64_t& out) {
  if (v.is_int64()) return out = v.get_int64(), true;
  if (v.is_uint64())
    return r.fail("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size", v);
  if (v.is_bool()) return out = v.get_bool() ? 1 : 0, true;
  if (v.is_double()) {
    double d = v.get_double(), whole = 0;
    if (std::isfinite(d) && std::modf(d, &whole) == 0 && std::abs(whole) < 9e15)
      return out = static_cast<std::int64_t>(whole), true;
    return r.fail("int_from_float", "Input should be a valid integer, got a number with a fractional part",
                  v);
  }
  if (v.is_string()) {
    if (spells(view(v.get_string()), out)) return true;
    return r.fail("int_parsing", "Input should be a valid integer, unable to parse string as an integer", v);
  }
  return r.fail("int_type", "Input should be a valid integer", v);
}

bool read(reader& r, const value& v, double& out) {
  if (v.is_double()) return out = v.get_double(), true;
  if (v.is_int64()) return out = static_cast<double>(v.get_int64()), true;
  if (v.is_uint64()) return out = static_cast<double>(v.get_uint64()), true;
  if (v.is_bool()) return out = v.get_bool() ? 1 : 0, true;
  if (v.is_string()) {
    if (spells(view(v.get_string()), out)) return true;
    return r.fail("float_parsing", "Input should be a valid number, unable to parse string as a number", v);
  }
  return r.fail("float_type", "Input should be a valid number", v);
}

bool read(reader& r, const value& v, std::string& out) {
  if (!v.is_string()) return r.fail("string_type", "Input should be a valid string", v);
  out = text::without_nul(view(v.get_string())); // no stored text holds U+0000
  return true;
}

bool read(reader& r, const value& v, object& out) {
  if (!v.is_object()) return r.fail("dict_type", "Input should be a valid dictionary", v);
  out = v.get_object();
  return true;
}

bool read(reader&, const value& v, value& out) {
  out = v;
  return true;
}

bool read(reader& r, const value& v, timestamp& out) {
  if (v.is_string()) {
    if (auto t = parse_iso(view(v.get_string()))) return out = *t, true;
    return r.fail("datetime_from_date_parsing",
                  "Input should be a valid datetime or date, invalid character in year", v,
                  "{'error': 'invalid character in year'}");
  }
  if (v.is_int64() || v.is_double()) {
    double n = v.is_int64() ? static_cast<double>(v.get_int64()) : v.get_double();
    if (std::abs(n) <
        1e14) { // seconds, or milliseconds where that would be beyond the year 5138, as pydantic takes it
      out.us = static_cast<std::int64_t>(std::abs(n) > 2e10 ? n * 1e3 : n * 1e6);
      return true;
    }
  }
  return r.fail("datetime_type", "Input should be a valid datetime", v);
}

bool check_id_text(reader& r, const value& v, std::string_view prefix) {
  if (!v.is_string()) return r.fail("string_type", "Input should be a valid string", v);
  auto text = view(v.get_string());
  auto wanted = prefix.size() + 37;
  auto limit = [&](const char* type, const char* bound, const char* ctx) {
    return r.fail(
        type, "String should have at " + std::string(bound) + " " + std::to_string(wanted) + " characters", v,
        "{'" + std::string(ctx) + "': " + std::to_string(wanted) + "}");
  };
  if (text::length(text) < wanted) return limit("string_too_short", "least", "min_length");
  if (text::length(text) > wanted) return limit("string_too_long", "most", "max_length");
  if (text.starts_with(prefix) && text[prefix.size()] == '-' && uuid::parse(text.substr(prefix.size() + 1)))
    return true;
  auto pattern =
      "^" + std::string(prefix) + "-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
  return r.fail("string_pattern_mismatch", "String should match pattern '" + pattern + "'", v,
                "{'pattern': '" + pattern + "'}");
}

} // namespace troupe::json
