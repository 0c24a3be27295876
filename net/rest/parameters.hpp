// Query parameters as described structs: a vector takes every value of a name, everything else the last one.
#pragma once

#include "net/rest/call.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace parameter_detail {
template <class T> inline constexpr bool is_list = false;
template <class T> inline constexpr bool is_list<std::vector<T>> = true;
template <class T> inline constexpr bool is_list<std::optional<std::vector<T>>> = true;
} // namespace parameter_detail

// The parameters that T describes. Errors: invalid_body with places that begin with `query`.
template <class T> result<T> query_of(const call& c) {
  json::object given;
  json::for_each_member<T>([&](auto d) {
    using member = std::remove_reference_t<decltype(std::declval<T&>().*d.pointer)>;
    auto name = json::json_name(d.name);
    json::array values;
    for (auto& [key, value] : c.request.query)
      if (key == name) values.emplace_back(boost::json::string(value));
    if (values.empty()) return;
    if constexpr (parameter_detail::is_list<member>)
      given[name] = std::move(values);
    else
      given[name] = std::move(values.back());
  });
  return json::read_as<T>(json::value(std::move(given)), "query");
}

// A parameter whose value is empty is none.
std::optional<std::string> filled(const std::optional<std::string>& value);

// An integer with bounds.
template <std::int64_t Min, std::int64_t Max> struct bounded { std::int64_t value = 0; };

template <std::int64_t Min, std::int64_t Max>
bool read(json::reader& r, const json::value& v, bounded<Min, Max>& out) {
  if (!json::read(r, v, out.value)) return false;
  auto wrong = [&](const char* type, const std::string& sentence, const char* ctx, std::int64_t bound) {
    return r.fail(type, "Input should be " + sentence + " than or equal to " + std::to_string(bound), v,
                  "{'" + std::string(ctx) + "': " + std::to_string(bound) + "}");
  };
  if (out.value < Min) return wrong("greater_than_equal", "greater", "ge", Min);
  if (out.value > Max) return wrong("less_than_equal", "less", "le", Max);
  return true;
}

// How many: 0 is no limit where the API has it so. Answers are bounded all the same; clients page on.
inline constexpr std::int64_t most_items = 10'000;
using item_limit = bounded<0, std::numeric_limits<std::int64_t>::max()>;
inline std::size_t items(const item_limit& l) {
  return static_cast<std::size_t>(l.value == 0 ? most_items : std::min(l.value, most_items));
}

// A text whose characters and length are bounded (names of the block filters; reference: resources §1.9).
enum class alphabet { any, label, name };
bool read_bounded_text(json::reader& r, const json::value& v, alphabet allowed, std::size_t longest,
                       std::string& out);

template <alphabet Allowed, std::size_t Longest> struct bounded_text { std::string value; };
template <alphabet A, std::size_t N>
bool read(json::reader& r, const json::value& v, bounded_text<A, N>& out) {
  return read_bounded_text(r, v, A, N, out.value);
}
template <alphabet A, std::size_t N>
std::optional<std::string> text_of(const std::optional<bounded_text<A, N>>& t) {
  return t ? std::optional(t->value) : std::nullopt;
}

enum class only_created_at { created_at };
BOOST_DESCRIBE_ENUM(only_created_at, created_at)

// What nearly every list takes; the defaults are each list's own.
struct page_parameters {
  std::optional<std::string> before, after;
  std::optional<item_limit> limit;
  std::optional<sort_order> order;
  only_created_at order_by = only_created_at::created_at;

  std::size_t items(std::int64_t otherwise) const {
    return rest::items(limit.value_or(item_limit{otherwise}));
  }
  // The same where the API gives nothing for 0.
  std::size_t exactly(std::int64_t otherwise) const {
    return limit && limit->value == 0 ? 0 : items(otherwise);
  }
};
BOOST_DESCRIBE_STRUCT(page_parameters, (), (before, after, limit, order, order_by))

// A page of a short list that is wholly in memory, by the time of creation. Cursors that nobody has are passed over.
template <class T>
void cut_page(std::vector<T>& all, const page_parameters& p, std::int64_t default_limit,
              sort_order default_order) {
  bool forward = p.order.value_or(default_order) == sort_order::asc;
  std::sort(all.begin(), all.end(), [&](auto& a, auto& b) {
    auto x = std::pair(a.created_at, a.id), y = std::pair(b.created_at, b.id);
    return forward ? x < y : y < x;
  });
  auto at = [&](const std::optional<std::string>& cursor) {
    return std::find_if(all.begin(), all.end(), [&](auto& x) { return cursor && x.id.str() == *cursor; });
  };
  if (auto it = at(p.before); it != all.end()) all.erase(it, all.end());
  if (auto it = at(p.after); it != all.end()) all.erase(all.begin(), it + 1);
  if (auto limit = p.items(default_limit); all.size() > limit) all.resize(limit);
}

// The cursors of a list whose items have places in time.
template <class Place> struct window { std::optional<Place> before, after; };

// A page of a short list, oldest first, by the places that `at` gives. One cursor counts in the chosen order; two are a
// window in time, of which a page that it is too long for shows the middle. Errors: invalid_argument, for cursors the
// wrong way round.
template <class T, class Place, class At>
result<void> cut_between(std::vector<T>& all, const window<Place>& w, std::size_t limit, sort_order order,
                         At at) {
  bool both = w.before && w.after, forward = order == sort_order::asc;
  if (both && *w.before < *w.after)
    return fail(errc::invalid_argument, "'before' reference must be later than 'after' reference");
  auto& low = both || forward ? w.after : w.before;
  auto& high = both || forward ? w.before : w.after;
  if (low || high)
    std::erase_if(all, [&](auto& x) {
      Place p = at(x);
      return (low && !(*low < p)) || (high && !(p < *high));
    });
  if (!forward) std::reverse(all.begin(), all.end());
  if (both && all.size() > limit) {
    all.resize(std::min(all.size(), 2 * limit));
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2 - limit / 2));
  }
  if (all.size() > limit) all.resize(limit);
  return {};
}

} // namespace troupe::net::rest

namespace troupe::json {
template <> inline constexpr bool is_literal<net::rest::only_created_at> = true;
}
