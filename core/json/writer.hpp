// Described structs -> JSON text, straight into a string: every member, in the order of the description,
// nulls printed (reference: agent-loop §0).
#pragma once

#include "core/base/id.hpp"
#include "core/base/time.hpp"
#include "core/json/describe.hpp"
#include "core/json/value.hpp"

#include <charconv>
#include <concepts>

namespace troupe::json {

inline void write(std::string& out, bool v) { out += v ? "true" : "false"; }
template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) void write(std::string& out, T v) {
  char buf[24];
  auto end = std::to_chars(buf, buf + sizeof buf, v).ptr;
  out.append(buf, end);
}
inline void write(std::string& out, double v) { print_double(out, v); }
inline void write(std::string& out, std::string_view v) { print_string(out, v); }
inline void write(std::string& out, const std::string& v) { print_string(out, v); }
inline void write(std::string& out, const char* v) { print_string(out, v); }
inline void write(std::string& out, const value& v) { print(out, v); }
inline void write(std::string& out, const object& v) { print(out, v); }
inline void write(std::string& out, timestamp v) { print_string(out, format_utc(v)); }
inline void write(std::string& out, naive_timestamp v) { print_string(out, format_naive(v)); }
template <id_prefix P> void write(std::string& out, const id<P>& v) {
  out.append("\"").append(P.view()).append("-").append(v.value.str()).append("\"");
}
template <described_enum E> void write(std::string& out, E v) { print_string(out, enum_text(v)); }

template <class T> void write(std::string& out, const std::optional<T>& v);
template <class T> void write(std::string& out, const std::vector<T>& v);
template <class T> void write(std::string& out, const dictionary<T>& v);
template <class... Ts> void write(std::string& out, const std::variant<Ts...>& v);
template <described_struct T> void write(std::string& out, const T& v);

template <class T> void write(std::string& out, const std::optional<T>& v) {
  if (v)
    write(out, *v);
  else
    out += "null";
}

template <class T> void write(std::string& out, const std::vector<T>& v) {
  out.push_back('[');
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i) out.push_back(',');
    write(out, v[i]);
  }
  out.push_back(']');
}

template <class T> void write(std::string& out, const dictionary<T>& v) {
  out.push_back('{');
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i) out.push_back(',');
    print_string(out, v[i].first);
    out.push_back(':');
    write(out, v[i].second);
  }
  out.push_back('}');
}

template <class... Ts> void write(std::string& out, const std::variant<Ts...>& v) {
  std::visit([&](const auto& x) { write(out, x); }, v);
}

// Writes one object member by member; used directly where the members come from several places. The object is
// whole when the writer is gone: where the text is returned by the same function, use object_text.
class object_writer {
public:
  explicit object_writer(std::string& out) : out_(out) { out_.push_back('{'); }
  ~object_writer() { out_.push_back('}'); }
  object_writer(const object_writer&) = delete;
  object_writer& operator=(const object_writer&) = delete;

  template <class T> object_writer& add(std::string_view name, const T& v) {
    key(name);
    write(out_, v);
    return *this;
  }
  object_writer& null(std::string_view name) {
    key(name);
    out_ += "null";
    return *this;
  }
  // A member whose value is JSON text already.
  object_writer& raw(std::string_view name, std::string_view text) {
    key(name);
    out_ += text;
    return *this;
  }
  // Starts a member; the caller writes its value.
  std::string& key(std::string_view name) {
    if (!first_) out_.push_back(',');
    first_ = false;
    out_.append("\"").append(name).append("\":");
    return out_;
  }
  template <described_struct T> object_writer& members(const T& v) {
    for_each_member<T>([&](auto d) { add(json_name(d.name), v.*d.pointer); });
    return *this;
  }

private:
  std::string& out_;
  bool first_ = true;
};

// The text of an object whose members `f` adds.
template <class F> std::string object_text(F&& f) {
  std::string out;
  {
    object_writer w(out);
    f(w);
  }
  return out;
}

template <described_struct T> void write(std::string& out, const T& v) {
  if constexpr (requires { T::write_json(out, v); })
    T::write_json(out, v);
  else
    object_writer(out).members(v);
}

template <class T> std::string to_text(const T& v) {
  std::string out;
  write(out, v);
  return out;
}

// A list whose items `write_item` writes: (out, item).
template <class Items, class F> void write_list(std::string& out, const Items& items, F&& write_item) {
  out.push_back('[');
  bool first = true;
  for (auto& item : items) {
    if (!first) out.push_back(',');
    first = false;
    write_item(out, item);
  }
  out.push_back(']');
}
template <class Items, class F> std::string list_text(const Items& items, F&& write_item) {
  std::string out;
  write_list(out, items, write_item);
  return out;
}

// A described struct as a value, for the few places that go on to change it.
template <class T> value to_value(const T& v) {
  auto parsed = try_parse(to_text(v));
  return parsed ? std::move(*parsed) : value{};
}

} // namespace troupe::json
