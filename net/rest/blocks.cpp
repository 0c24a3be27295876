// /blocks (reference: resources §4)
#include "storage/blocks.hpp"

#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/identities.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

std::string api_text(const block& b) {
  std::string out;
  block::write_api(out, b);
  return out;
}

error no_block(const block_id& id) {
  return fail(errc::not_found, "Block with id '" + id.str() + "' not found");
}

awaitable<outcome> create(call& c) {
  auto body = body_of<create_block>(c);
  if (!body) co_return body.error();
  auto b = make_block(*body, c.by.org, *c.s.env);
  auto store = [b](storage::transaction& t) -> result<std::string> {
    storage::put_block(t, b);
    return api_text(b);
  };
  co_return co_await write(c, "block.create", std::move(store));
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<block_id>(c, "block_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto b = storage::find_block(r, *id, c.by.org);
    if (!b) return no_block(*id);
    return api_text(*b);
  });
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<block_id>(c, "block_id");
  if (!id) co_return id.error();
  auto body = body_of<update_block>(c);
  if (!body) co_return body.error();
  auto store = [id = *id, change = *body, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto b = storage::find_block(t, id, by.org);
    if (!b) return storage::not_found_for("Block", id.str(), by);
    auto changed = storage::change_block(t, *b, change, *env);
    if (!changed) return changed.error();
    return api_text(*changed);
  };
  co_return co_await write(c, "block.update", std::move(store));
}

awaitable<outcome> erase(call& c) {
  auto id = path_id<block_id>(c, "block_id");
  if (!id) co_return id.error();
  auto store = [id = *id, by = c.by, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto b = storage::find_block(t, id, by.org);
    if (!b) return storage::not_found_for("Block", id.str(), by);
    storage::erase_block(t, *b, *env);
    return "null";
  };
  co_return co_await write(c, "block.delete", std::move(store));
}

// -- lists ----------------------------------------------------------------------------------------
using label_text = bounded_text<alphabet::label, 50>;
using name_text = bounded_text<alphabet::name, 100>;
using search_text = bounded_text<alphabet::any, 200>;

struct filter_parameters {
  std::optional<label_text> label;
  bool templates_only = false;
  std::optional<name_text> name;
  std::optional<std::string> project_id;
  std::vector<std::string> tags;
  bool match_all_tags = false;
};
BOOST_DESCRIBE_STRUCT(filter_parameters, (), (label, templates_only, name, project_id, tags, match_all_tags))

struct list_parameters {
  std::optional<identity_id> identity_id_;
  std::vector<std::string> identifier_keys;
  std::optional<label_text> label_search;
  std::optional<search_text> description_search, value_search;
  std::optional<std::int64_t> connected_to_agents_count_gt, connected_to_agents_count_lt;
  std::vector<std::int64_t> connected_to_agents_count_eq;
  bool show_hidden_blocks = false;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (),
                      (identity_id_, identifier_keys, label_search, description_search, value_search,
                       connected_to_agents_count_gt, connected_to_agents_count_lt,
                       connected_to_agents_count_eq, show_hidden_blocks))

storage::block_query query_for(const filter_parameters& f) {
  storage::block_query q;
  q.label = text_of(f.label);
  q.is_template = f.templates_only;
  q.name = text_of(f.name);
  q.project_id = filled(f.project_id);
  q.tags = f.tags;
  q.match_all_tags = f.match_all_tags;
  return q;
}

// Cursors that nobody has are passed over.
std::string place_of(const storage::reader& r, const std::optional<std::string>& cursor) {
  auto id = block_id::parse(cursor.value_or(""));
  auto b = id ? storage::find_block(r, *id) : std::nullopt;
  return b ? storage::place(b->created_at, b->id.value) : std::string{};
}

// The blocks of the identities that a filter names.
std::vector<block_id> blocks_of(const storage::reader& r, const org_id& org, const list_parameters& p) {
  storage::identity_query all;
  all.pages.limit = 0;
  std::vector<block_id> out;
  for (auto& i : storage::list_identities(r, org, all)) {
    bool named = p.identity_id_ && *p.identity_id_ == i.id;
    auto& keys = p.identifier_keys;
    if (named || std::find(keys.begin(), keys.end(), i.identifier_key) != keys.end())
      out.insert(out.end(), i.block_ids.begin(), i.block_ids.end());
  }
  return out;
}

awaitable<outcome> list(call& c) {
  auto filter = query_of<filter_parameters>(c);
  if (!filter) co_return filter.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto q = query_for(*filter);
  if (!q.label) q.label_search = text_of(p->label_search);
  q.description_search = text_of(p->description_search);
  q.value_search = text_of(p->value_search);
  q.agents_above = p->connected_to_agents_count_gt;
  q.agents_below = p->connected_to_agents_count_lt;
  q.agents_exactly = p->connected_to_agents_count_eq;
  q.show_hidden = p->show_hidden_blocks;
  q.pages.limit = page->items(50);
  q.pages.order = page->order.value_or(sort_order::asc);
  auto list = [q, p = *p, org = c.by.org, before = page->before,
               after = page->after](const storage::reader& r) mutable -> result<std::string> {
    if (p.identity_id_ || !p.identifier_keys.empty()) q.among = blocks_of(r, org, p);
    q.pages.before = place_of(r, before);
    q.pages.after = place_of(r, after);
    return json::list_text(storage::list_blocks(r, org, q),
                           [](auto& out, auto& b) { block::write_api(out, b); });
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> count(call& c) {
  auto filter = query_of<filter_parameters>(c);
  if (!filter) co_return filter.error();
  auto q = query_for(*filter);
  // Asked for nothing in particular, it counts templates, too.
  if (!filter->label && !filter->templates_only && !filter->name && !filter->project_id &&
      filter->tags.empty())
    q.is_template.reset();
  auto number = [q, org = c.by.org](const storage::reader& r) -> result<std::string> {
    return std::to_string(storage::count_blocks(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(number));
}

awaitable<outcome> list_agents(call& c) {
  auto id = path_id<block_id>(c, "block_id");
  if (!id) co_return id.error();
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  auto include = query_of<include_parameters>(c);
  if (!include) co_return include.error();
  auto list = [id = *id, page = *p, org = c.by.org,
               shown = included(*include)](const storage::reader& r) -> result<std::string> {
    std::vector<agent> agents;
    for (auto& a : storage::agents_of_block(r, id))
      if (auto found = storage::find_agent(r, a, org)) agents.push_back(std::move(*found));
    cut_page_at(agents, page, sort_order::desc, [&](const std::string& cursor) {
      return storage::find_agent(r, agent_id::parse(cursor).value_or(agent_id{}), org);
    });
    return agent_states(r, agents, shown);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

} // namespace

void add_blocks(router& r) {
  r.add("POST", "/blocks/", create);
  r.add("GET", "/blocks/", list);
  r.add("GET", "/blocks/count", count);
  r.add("GET", "/blocks/{block_id}", retrieve);
  r.add("PATCH", "/blocks/{block_id}", modify);
  r.add("DELETE", "/blocks/{block_id}", erase);
  r.add("GET", "/blocks/{block_id}/agents", list_agents);
}

} // namespace troupe::net::rest
