// /tags (reference: resources §10.2)
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

enum class only_name { name };
BOOST_DESCRIBE_ENUM(only_name, name)

} // namespace troupe::net::rest
namespace troupe::json {
template <> inline constexpr bool is_literal<net::rest::only_name> = true;
}

namespace troupe::net::rest {

namespace {

struct tag_parameters {
  std::optional<std::string> before, after, query_text, name;
  item_limit limit{50};
  sort_order order = sort_order::asc;
  only_name order_by = only_name::name;
};
BOOST_DESCRIBE_STRUCT(tag_parameters, (), (before, after, query_text, name, limit, order, order_by))

awaitable<outcome> list_tags(call& c) {
  auto p = query_of<tag_parameters>(c);
  if (!p) co_return p.error();
  storage::tag_query q;
  q.limit = items(p->limit);
  q.order = p->order;
  q.after = filled(p->after);
  q.before = filled(p->before);
  q.part = filled(p->name) ? p->name : p->query_text;
  auto list = [q, org = c.by.org](const storage::reader& r) -> result<std::string> {
    return json::to_text(storage::list_tags(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

} // namespace

void add_tags(router& r) { r.add("GET", "/tags/", list_tags); }

} // namespace troupe::net::rest
