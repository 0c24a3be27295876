// /identities, and how agents and blocks belong to them (reference: resources §10.1)
#include "storage/identities.hpp"

#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/blocks.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

error no_identity(const identity_id& id, const actor& by) {
  return storage::not_found_for("Identity", id.str(), by);
}

void add_blocks_to(identity& i, const std::vector<block_id>& blocks) {
  for (auto& b : blocks)
    if (std::find(i.block_ids.begin(), i.block_ids.end(), b) == i.block_ids.end()) i.block_ids.push_back(b);
}

template <class Id> error no_items(const Id& id) {
  return fail(errc::not_found, "Items not found in agents: {" + json::python_repr(id.str()) + "}");
}

// What a request names must be there.
std::optional<error> check_members(const storage::reader& r, const org_id& org,
                                   const std::optional<std::vector<agent_id>>& agents,
                                   const std::optional<std::vector<block_id>>& blocks) {
  for (auto& id : agents.value_or(std::vector<agent_id>{}))
    if (!storage::find_agent(r, id, org)) return no_items(id);
  for (auto& id : blocks.value_or(std::vector<block_id>{}))
    if (!storage::find_block(r, id, org)) return no_items(id);
  return std::nullopt;
}

result<std::string> store(storage::transaction& t, const identity& i,
                          const std::optional<std::vector<agent_id>>& agents) {
  if (auto done = storage::put_identity(t, i); !done) return done.error();
  if (agents) storage::add_agents(t, i, *agents);
  return json::to_text(i);
}

awaitable<outcome> create(call& c) {
  auto body = body_of<create_identity>(c);
  if (!body) co_return body.error();
  identity i;
  i.id = c.s.env->make_id<identity_id>();
  i.identifier_key = body->identifier_key;
  i.name = body->name;
  i.identity_type_ = body->identity_type_;
  i.project_id = body->project_id;
  i.properties = body->properties.value_or(std::vector<identity_property>{});
  add_blocks_to(i, body->block_ids.value_or(std::vector<block_id>{}));
  i.organization_id = c.by.org;
  i.created_at = c.s.env->now();
  auto batch = [i, agents = body->agent_ids](storage::transaction& t) -> result<std::string> {
    if (auto wrong = check_members(t, i.organization_id, agents, i.block_ids)) return *wrong;
    return store(t, i, agents);
  };
  co_return co_await write(c, "identity.create", std::move(batch));
}

// By its key; one that is not there is made. One that is there gets new agents, and keeps its blocks.
awaitable<outcome> upsert(call& c) {
  auto body = body_of<create_identity>(c);
  if (!body) co_return body.error();
  auto batch = [q = *body, org = c.by.org, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto found = storage::find_identity_by_key(t, org, q.project_id, q.identifier_key);
    auto blocks = found ? std::nullopt : q.block_ids;
    if (auto wrong = check_members(t, org, q.agent_ids, blocks)) return *wrong;
    identity i = found.value_or(identity{});
    if (!found) {
      i.id = env->make_id<identity_id>();
      i.created_at = env->now();
      i.organization_id = org;
    }
    i.identifier_key = q.identifier_key;
    i.project_id = q.project_id;
    i.name = q.name;
    i.identity_type_ = q.identity_type_;
    if (q.properties) i.properties = *q.properties;
    if (blocks) add_blocks_to(i, *blocks);
    if (q.agent_ids) storage::keep_agents(t, i, *q.agent_ids);
    return store(t, i, q.agent_ids);
  };
  co_return co_await write(c, "identity.upsert", std::move(batch));
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  auto body = body_of<update_identity>(c);
  if (!body) co_return body.error();
  auto batch = [id = *id, q = *body, by = c.by](storage::transaction& t) -> result<std::string> {
    auto i = storage::find_identity(t, id, by.org);
    if (!i) return no_identity(id, by);
    if (auto wrong = check_members(t, by.org, q.agent_ids, q.block_ids)) return *wrong;
    if (q.identifier_key) i->identifier_key = *q.identifier_key;
    if (q.name) i->name = *q.name;
    if (q.identity_type_) i->identity_type_ = *q.identity_type_;
    if (q.properties) merge_properties(i->properties, *q.properties);
    if (q.block_ids) add_blocks_to(*i, *q.block_ids);
    return store(t, *i, q.agent_ids);
  };
  co_return co_await write(c, "identity.update", std::move(batch));
}

awaitable<outcome> replace_properties(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  auto body = body_of<std::vector<identity_property>>(c);
  if (!body) co_return body.error();
  auto batch = [id = *id, properties = *body, by = c.by](storage::transaction& t) -> result<std::string> {
    auto i = storage::find_identity(t, id, by.org);
    if (!i) return no_identity(id, by);
    i->properties = properties;
    return store(t, *i, std::nullopt);
  };
  co_return co_await write(c, "identity.properties", std::move(batch));
}

awaitable<outcome> erase(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  auto batch = [id = *id, by = c.by](storage::transaction& t) -> result<std::string> {
    auto i = storage::find_identity(t, id, by.org);
    if (!i) return no_identity(id, by);
    storage::erase_identity(t, *i);
    return "null";
  };
  co_return co_await write(c, "identity.delete", std::move(batch));
}

// -- reads ------------------------------------------------------------------------------

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto i = storage::find_identity(r, *id, c.by.org);
    if (!i) return no_identity(*id, c.by);
    return json::to_text(*i);
  });
}

struct list_parameters {
  std::optional<std::string> name, project_id, identifier_key;
  std::optional<identity_type> identity_type_;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (), (name, project_id, identifier_key, identity_type_))

result<std::string> place_of(const storage::reader& r, const std::optional<std::string>& cursor,
                             const org_id& org) {
  if (!filled(cursor)) return std::string{};
  auto id = identity_id::parse(*cursor);
  auto i = id ? storage::find_identity(r, *id, org) : std::nullopt;
  if (!i) return fail(errc::not_found, "No Identity found with id " + *cursor);
  return storage::place(i->created_at, i->id.value);
}

awaitable<outcome> list(call& c) {
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    storage::identity_query q;
    auto before = place_of(r, page->before, c.by.org);
    if (!before) return before.error();
    auto after = place_of(r, page->after, c.by.org);
    if (!after) return after.error();
    q.pages = {.limit = page->items(50),
               .order = page->order.value_or(sort_order::desc),
               .after = *after,
               .before = *before};
    q.name = p->name;
    q.project_id = filled(p->project_id);
    q.identifier_key = filled(p->identifier_key);
    q.type = p->identity_type_;
    return json::to_text(storage::list_identities(r, c.by.org, q));
  });
}

awaitable<outcome> count(call& c) {
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    storage::identity_query all;
    all.pages.limit = 0;
    return std::to_string(storage::list_identities(r, c.by.org, all).size());
  });
}

// Cursors of these lists must be there, in the list or not.
template <class Id, class Find>
std::optional<error> check_cursors(std::string_view kind, const page_parameters& p, Find&& find) {
  for (auto& cursor : {p.before, p.after})
    if (auto text = filled(cursor))
      if (auto id = Id::parse(*text); !id || !find(*id))
        return fail(errc::not_found, "No " + std::string(kind) + " found with id " + *text);
  return std::nullopt;
}

awaitable<outcome> list_agents(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto include = query_of<include_parameters>(c);
  if (!include) co_return include.error();
  auto list = [id = *id, page = *page, by = c.by,
               shown = included(*include)](const storage::reader& r) -> result<std::string> {
    if (!storage::find_identity(r, id, by.org)) return no_identity(id, by);
    auto find = [&](const agent_id& a) { return storage::find_agent(r, a, by.org); };
    if (auto wrong = check_cursors<agent_id>("Agent", page, find)) return *wrong;
    std::vector<agent> agents;
    for (auto& a : storage::agents_of_identity(r, id))
      if (auto found = find(a)) agents.push_back(std::move(*found));
    cut_page_at(agents, page, sort_order::desc, [&](const std::string& cursor) {
      return find(agent_id::parse(cursor).value_or(agent_id{}));
    });
    return agent_states(r, agents, shown);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> list_blocks(call& c) {
  auto id = path_id<identity_id>(c, "identity_id");
  if (!id) co_return id.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto i = storage::find_identity(r, *id, c.by.org);
    if (!i) return no_identity(*id, c.by);
    auto find = [&](const block_id& b) { return storage::find_block(r, b, c.by.org); };
    if (auto wrong = check_cursors<block_id>("Block", *page, find)) return *wrong;
    std::vector<block> blocks;
    for (auto& b : i->block_ids)
      if (auto found = find(b)) blocks.push_back(std::move(*found));
    cut_page_at(blocks, *page, sort_order::desc, [&](const std::string& cursor) {
      return find(block_id::parse(cursor).value_or(block_id{}));
    });
    return json::list_text(blocks, [](auto& out, auto& b) { block::write_api(out, b, false); });
  });
}

// -- belonging ------------------------------------------------------------------------------

// On these routes the identity's id is a plain text, and it is looked for first.
result<identity_id> named_identity(const call& c) {
  return id_named<identity_id>(c.path_value("identity_id"));
}

awaitable<outcome> belong_agent(call& c, bool attach) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto named = named_identity(c);
  if (!named) co_return named.error();
  auto batch = [id = *id, wanted = *named, attach,
                by = c.by](storage::transaction& t) -> result<std::string> {
    auto i = storage::find_identity(t, wanted, by.org);
    if (!i) return no_identity(wanted, by);
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return storage::not_found_for("Agent", id.str(), by);
    if (attach) {
      storage::add_agents(t, *i, {id});
    } else {
      auto changed = *a;
      if (std::erase(changed.identity_ids, wanted) > 0) storage::put_agent(t, changed, &*a);
    }
    return "null";
  };
  co_return co_await write(c, "agent.identity", std::move(batch));
}

awaitable<outcome> attach_agent(call& c) { co_return co_await belong_agent(c, true); }
awaitable<outcome> detach_agent(call& c) { co_return co_await belong_agent(c, false); }

awaitable<outcome> belong_block(call& c, bool attach) {
  auto id = path_id<block_id>(c, "block_id");
  if (!id) co_return id.error();
  auto named = named_identity(c);
  if (!named) co_return named.error();
  auto batch = [id = *id, wanted = *named, attach,
                by = c.by](storage::transaction& t) -> result<std::string> {
    auto i = storage::find_identity(t, wanted, by.org);
    if (!i) return no_identity(wanted, by);
    auto b = storage::find_block(t, id, by.org);
    if (!b) return storage::not_found_for("Block", id.str(), by);
    if (attach)
      add_blocks_to(*i, {id});
    else
      std::erase(i->block_ids, id);
    if (auto done = storage::put_identity(t, *i); !done) return done.error();
    std::string out;
    block::write_api(out, *b);
    return out;
  };
  co_return co_await write(c, "block.identity", std::move(batch));
}

awaitable<outcome> attach_block(call& c) { co_return co_await belong_block(c, true); }
awaitable<outcome> detach_block(call& c) { co_return co_await belong_block(c, false); }

} // namespace

void add_identities(router& r) {
  r.add("POST", "/identities/", create);
  r.add("PUT", "/identities/", upsert);
  r.add("GET", "/identities/", list);
  r.add("GET", "/identities/count", count);
  r.add("GET", "/identities/{identity_id}", retrieve);
  r.add("PATCH", "/identities/{identity_id}", modify);
  r.add("DELETE", "/identities/{identity_id}", erase);
  r.add("PUT", "/identities/{identity_id}/properties", replace_properties);
  r.add("GET", "/identities/{identity_id}/agents", list_agents);
  r.add("GET", "/identities/{identity_id}/blocks", list_blocks);
  r.add("PATCH", "/agents/{agent_id}/identities/attach/{identity_id}", attach_agent);
  r.add("PATCH", "/agents/{agent_id}/identities/detach/{identity_id}", detach_agent);
  r.add("PATCH", "/blocks/{block_id}/identities/attach/{identity_id}", attach_block);
  r.add("PATCH", "/blocks/{block_id}/identities/detach/{identity_id}", detach_block);
}

} // namespace troupe::net::rest
