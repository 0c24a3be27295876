// JSON -> described structs, with the errors that the API's clients know: a list of {type, loc, msg, input, ctx} in
// the form of pydantic (reference: resources §1.6, recordings named *-validation and *-errors). A reader collects
// every error of a document; what it read is only valid where it collected none.
#pragma once

#include "core/base/id.hpp"
#include "core/base/time.hpp"
#include "core/json/describe.hpp"
#include "core/json/value.hpp"

#include <concepts>

namespace troupe::json {

struct field_error {
  std::string type;
  std::vector<std::variant<std::string, std::size_t>> loc;
  std::string msg;
  value input;
  std::string ctx; // the Python text of the ctx dictionary, empty for none
};

// The errors as the text of Python's list of dictionaries: the `detail` of a 422.
std::string describe_errors(const std::vector<field_error>& errors);
error to_error(const std::vector<field_error>& errors);

// Quoted alternatives as pydantic joins them: 'a', 'b' or 'c'.
std::string alternatives(const std::vector<std::string_view>& texts);

class reader {
public:
  explicit reader(std::string_view root) { path_.emplace_back(std::string(root)); }

  bool ok() const noexcept { return errors_.empty(); }
  // There are as many errors as are shown: it is no use to go on.
  bool full() const noexcept { return errors_.size() >= most_errors; }
  // Query parameters have no document that a missing one could be shown in.
  bool of_query() const { return std::get<std::string>(path_.front()) == "query"; }
  const std::vector<field_error>& errors() const noexcept { return errors_; }

  // Always false, so that a read function can end with it.
  bool fail(std::string type, std::string msg, const value& input, std::string ctx = {});
  // A check of our own, as a validator of the original raises it: type value_error, "Value error, ...".
  bool fail_value(const std::string& what, const value& input);

  class scope {
  public:
    scope(reader& r, std::string_view key) : r_(r) { r_.path_.emplace_back(std::string(key)); }
    scope(reader& r, std::size_t index) : r_(r) { r_.path_.emplace_back(index); }
    ~scope() { r_.path_.pop_back(); }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

  private:
    reader& r_;
  };

private:
  // A document can be wrong in a million places; the first ones will do.
  static constexpr std::size_t most_errors = 64;

  std::vector<std::variant<std::string, std::size_t>> path_;
  std::vector<field_error> errors_;
};

// -- scalars --------------------------------------------------------------------------------------
bool read(reader& r, const value& v, bool& out);
bool read(reader& r, const value& v, std::int64_t& out);
bool read(reader& r, const value& v, double& out);
bool read(reader& r, const value& v, std::string& out);
bool read(reader& r, const value& v, object& out);
bool read(reader& r, const value& v, value& out);
bool read(reader& r, const value& v, timestamp& out);

// The members of what must be an object; nothing, after the error, for anything else.
const object* fields_of(reader& r, const value& v);

// An id inside a body or a query: too short, too long, then the pattern, as pydantic checks a constrained string.
bool check_id_text(reader& r, const value& v, std::string_view prefix);

template <id_prefix P> bool read(reader& r, const value& v, id<P>& out) {
  if (!check_id_text(r, v, P.view())) return false;
  out = *id<P>::parse(view(v.get_string()));
  return true;
}

// A Literal[...] of the original, as opposed to an Enum: another error type, same words.
template <class E> inline constexpr bool is_literal = false;

template <described_enum E> bool read(reader& r, const value& v, E& out) {
  if (v.is_string())
    if (auto e = enum_from<E>(view(v.get_string()))) {
      out = *e;
      return true;
    }
  auto expected = alternatives(enum_texts<E>());
  return r.fail(is_literal<E> ? "literal_error" : "enum", "Input should be " + expected, v,
                "{'expected': " + python_repr(std::string_view{expected}) + "}");
}

// -- compounds (declared first: they nest in any order) -------------------------------------------
template <class T> bool read(reader& r, const value& v, std::optional<T>& out);
template <class T> bool read(reader& r, const value& v, std::vector<T>& out);
template <class T> bool read(reader& r, const value& v, maybe<T>& out);
template <class T> bool read(reader& r, const value& v, dictionary<T>& out);
template <described_struct T> bool read(reader& r, const value& v, T& out);

template <class T> bool read(reader& r, const value& v, std::optional<T>& out) {
  if (v.is_null()) {
    out.reset();
    return true;
  }
  return read(r, v, out.emplace());
}

template <class T> bool read(reader& r, const value& v, std::vector<T>& out) {
  auto* items = v.if_array();
  if (!items) return r.fail("list_type", "Input should be a valid list", v);
  bool good = true;
  out.clear();
  for (std::size_t i = 0; i < items->size() && !r.full(); ++i) {
    reader::scope at(r, i);
    good &= read(r, (*items)[i], out.emplace_back());
  }
  return good;
}

template <class T> bool read(reader& r, const value& v, maybe<T>& out) {
  out.present = true;
  return read(r, v, out.value);
}

template <class T> bool read(reader& r, const value& v, dictionary<T>& out) {
  auto* o = v.if_object();
  if (!o) return r.fail("dict_type", "Input should be a valid dictionary", v);
  bool good = true;
  out.clear();
  for (auto& [key, member] : *o) {
    std::string name{key.data(), key.size()};
    reader::scope at(r, name);
    out.emplace_back(std::move(name), T{});
    good &= read(r, member, out.back().second);
  }
  return good;
}

namespace detail {
template <class T> constexpr bool is_required(std::string_view name) {
  if constexpr (requires { T::required; })
    for (std::string_view r : T::required)
      if (r == name) return true;
  return false;
}

template <class T> bool is_member(std::string_view name) {
  bool found = false;
  for_each_member<T>([&](auto d) { found |= json_name(d.name) == name; });
  return found;
}
} // namespace detail

// Reads every member of a described struct from an object; members that are absent keep their defaults.
template <described_struct T> bool read_members(reader& r, const object& o, T& out) {
  bool good = true;
  for_each_member<T>([&](auto d) {
    auto name = json_name(d.name);
    auto* member = find(o, name);
    if (member) {
      reader::scope at(r, name);
      good &= read(r, *member, out.*d.pointer);
    } else if (detail::is_required<T>(name)) {
      reader::scope at(r, name);
      good &= r.fail("missing", "Field required", r.of_query() ? value() : value(o));
    }
  });
  if constexpr (requires { T::forbid_extra; })
    for (auto& [key, member] : o)
      if (std::string_view name{key.data(), key.size()}; !detail::is_member<T>(name)) {
        reader::scope at(r, name);
        good &= r.fail("extra_forbidden", "Extra inputs are not permitted", member);
      }
  return good;
}

template <described_struct T> bool read(reader& r, const value& v, T& out) {
  if constexpr (requires { T::read_json(r, v, out); }) {
    return T::read_json(r, v, out);
  } else {
    auto* o = fields_of(r, v);
    if (!o) return false;
    return read_members(r, *o, out);
  }
}

// Reads a whole document: the value, or the 422 error. `root` is where it came from: body, query, path.
template <class T> result<T> read_as(const value& v, std::string_view root = "body") {
  reader r(root);
  T out{};
  read(r, v, out);
  if (!r.ok()) return to_error(r.errors());
  return out;
}

} // namespace troupe::json
