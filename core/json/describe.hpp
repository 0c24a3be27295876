// The entities are described once, with Boost.Describe; the JSON reader, the JSON writer and the storage codec all
// go by that description. A described struct may say more about itself with static members:
//   static constexpr std::string_view required[] = {"label"};   members that a document must hold
//   static constexpr bool forbid_extra = true;                  unknown members are errors, not ignored
//   static bool read_json(reader&, const value&, T&);           a reader of its own (unions)
//   static void write_json(std::string&, const T&);             a writer of its own
// A member whose name is a word of C++ carries a trailing underscore that is not part of the JSON name.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::json {

template <class T>
using members_of =
    boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

template <class T>
concept described_struct = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class T>
concept described_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

constexpr std::string_view json_name(const char* member) {
  std::string_view name{member};
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

template <described_struct T, class F> constexpr void for_each_member(F&& f) {
  boost::mp11::mp_for_each<members_of<T>>(std::forward<F>(f));
}

// Text of an enumerator, as in JSON.
template <described_enum E> constexpr std::string_view enum_text(E e) {
  std::string_view out = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (d.value == e) out = json_name(d.name);
  });
  return out;
}

template <described_enum E> constexpr std::optional<E> enum_from(std::string_view text) {
  std::optional<E> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (json_name(d.name) == text) out = d.value;
  });
  return out;
}

template <described_enum E> std::vector<std::string_view> enum_texts() {
  std::vector<std::string_view> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto d) { out.push_back(json_name(d.name)); });
  return out;
}

// A member that a document may leave out, set to null, or give a value: three different things in a PATCH.
template <class T> struct maybe {
  bool present = false;
  std::optional<T> value;
};

// Names with values, in the order of the document.
template <class T> struct dictionary : std::vector<std::pair<std::string, T>> {
  using std::vector<std::pair<std::string, T>>::vector;
  const T* find(std::string_view key) const {
    for (auto& [k, v] : *this)
      if (k == key) return &v;
    return nullptr;
  }
};

} // namespace troupe::json
