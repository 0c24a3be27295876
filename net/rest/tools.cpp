// /tools: what every organisation has from its first start (reference: resources §5.1, §6)
#include "storage/tools.hpp"

#include "core/base/text.hpp"
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

struct tool_parameters {
  std::optional<std::string> name, search;
  std::vector<std::string> names, tool_ids, tool_types, exclude_tool_types;
  std::optional<bool> return_only_letta_tools;
};
BOOST_DESCRIBE_STRUCT(tool_parameters, (),
                      (name, search, names, tool_ids, tool_types, exclude_tool_types,
                       return_only_letta_tools))

struct count_parameters : tool_parameters {
  std::optional<bool> exclude_letta_tools;
};
BOOST_DESCRIBE_STRUCT(count_parameters, (tool_parameters), (exclude_letta_tools))

// Values may be repeated, or stand in one value with commas between.
std::vector<std::string> separated(const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (auto& v : values)
    for (auto& part : text::split(v, ','))
      if (auto word = text::trim(part); !word.empty()) out.emplace_back(word);
  return out;
}

result<std::vector<tool_type>> types_of(const std::vector<std::string>& values) {
  std::vector<tool_type> out;
  for (auto& word : separated(values)) {
    auto type = json::enum_from<tool_type>(word);
    if (!type) {
      std::vector<std::string> known;
      for (auto t : json::enum_texts<tool_type>()) known.emplace_back(t);
      return fail(errc::invalid_argument,
                  "Invalid tool_type '" + word + "'. Must be one of: " + text::join(known, ", "));
    }
    out.push_back(*type);
  }
  return out;
}

result<storage::tool_query> query_for(const call& c, const tool_parameters& p) {
  storage::tool_query q;
  q.project = c.project();
  q.names = p.names;
  if (p.name) q.names.push_back(*p.name);
  q.search = p.search;
  for (auto& text : separated(p.tool_ids)) {
    auto id = tool_id::parse(text);
    q.ids.push_back(id.value_or(tool_id{})); // what is no id is nobody's
  }
  auto types = types_of(p.tool_types);
  if (!types) return types.error();
  q.types = std::move(*types);
  auto excluded = types_of(p.exclude_tool_types);
  if (!excluded) return excluded.error();
  q.excluded_types = std::move(*excluded);
  q.only_letta = p.return_only_letta_tools.value_or(false);
  return q;
}

std::string place_of(const storage::reader& r, const std::optional<std::string>& cursor) {
  auto id = tool_id::parse(cursor.value_or(""));
  auto t = id ? storage::find_tool(r, *id) : std::nullopt;
  return t ? storage::place(t->created_at, t->id.value) : std::string{};
}

// A list that is told from its beginning has the base tools that were deleted again.
awaitable<result<void>> restore_base_tools(call& c) {
  if (!storage::lacks_base_tools(*c.s.db->snapshot(), c.by.org)) co_return result<void>{};
  auto store = [by = c.by, env = c.s.env](storage::transaction& t) -> result<void> {
    if (auto org = storage::find_organization(t, by.org)) storage::upsert_base_tools(t, *org, by.user, *env);
    return {};
  };
  co_return co_await commit(c, "tools.restore_base", std::move(store));
}

awaitable<outcome> list(call& c) {
  auto p = query_of<tool_parameters>(c);
  if (!p) co_return p.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto q = query_for(c, *p);
  if (!q) co_return q.error();
  if (!filled(page->after))
    if (auto done = co_await restore_base_tools(c); !done) co_return done.error();
  q->pages.limit = page->exactly(50);
  if (q->pages.limit == 0) co_return http::response::json("[]");
  q->pages.order = page->order.value_or(sort_order::desc);
  auto list = [q = *q, org = c.by.org, before = page->before,
               after = page->after](const storage::reader& r) mutable -> result<std::string> {
    q.pages.before = place_of(r, before);
    q.pages.after = place_of(r, after);
    return json::to_text(storage::list_tools(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> count(call& c) {
  auto p = query_of<count_parameters>(c);
  if (!p) co_return p.error();
  auto q = query_for(c, *p);
  if (!q) co_return q.error();
  q->exclude_letta = p->exclude_letta_tools.value_or(false);
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    return std::to_string(storage::count_tools(r, c.by.org, *q));
  });
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<tool_id>(c, "tool_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto t = storage::find_tool(r, *id, c.by.org);
    if (!t) return storage::not_found_for("Tool", id->str(), c.by);
    return json::to_text(*t);
  });
}

awaitable<outcome> add_base_tools(call& c) {
  auto store = [by = c.by, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto org = storage::find_organization(t, by.org);
    if (!org) return fail(errc::not_found, "Organization with id " + by.org.str() + " not found");
    return json::to_text(storage::upsert_base_tools(t, *org, by.user, *env));
  };
  co_return co_await write(c, "tools.add_base", std::move(store));
}

} // namespace

void add_tools(router& r) {
  r.add("GET", "/tools/", list);
  r.add("GET", "/tools/count", count);
  r.add("GET", "/tools/{tool_id}", retrieve);
  r.add("POST", "/tools/add-base-tools", add_base_tools);
}

} // namespace troupe::net::rest
