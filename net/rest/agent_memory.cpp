// /agents/{id}/core-memory (reference: resources §2.14, §4)
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/blocks.hpp"
#include "storage/organizations.hpp"
#include "storage/prompts.hpp"

namespace troupe::net::rest {

namespace {

awaitable<outcome> memory(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, *id, c.by.org);
    if (!a) return no_agent(*id);
    std::string out;
    write_memory(out, a->type, storage::blocks_of(r, *a));
    return out;
  });
}

awaitable<outcome> list(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, *id, c.by.org);
    if (!a) return storage::not_found_for("Agent", id->str(), c.by);
    auto blocks = storage::blocks_of(r, *a);
    cut_page(blocks, *p, 100, sort_order::desc);
    return json::list_text(blocks, [](auto& out, auto& b) { block::write_api(out, b); });
  });
}

// The block of a label. Errors: not_found for the agent, and for the label.
result<block> block_of(const storage::reader& r, const agent_id& id, std::string_view label,
                       const actor& by) {
  auto a = storage::find_agent(r, id, by.org);
  if (!a) return storage::not_found_for("Agent", id.str(), by);
  for (auto& b : storage::blocks_of(r, *a))
    if (b.label == label) return b;
  return fail(errc::not_found,
              "No block with label '" + std::string(label) + "' found for agent '" + id.str() + "'");
}

std::string api_text(const block& b) {
  std::string out;
  block::write_api(out, b);
  return out;
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto b = block_of(r, *id, c.path_value("block_label"), c.by);
    if (!b) return b.error();
    return api_text(*b);
  });
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<update_block>(c);
  if (!body) co_return body.error();
  auto store = [id = *id, label = std::string(c.path_value("block_label")), change = *body, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto b = block_of(t, id, label, by);
    if (!b) return b.error();
    auto changed = storage::change_block(t, *b, change, *env);
    if (!changed) return changed.error();
    return api_text(*changed);
  };
  co_return co_await write(c, "block.update", std::move(store));
}

// The agent counts as changed with its blocks, also where it had the block already.
void touch(storage::transaction& t, const agent_id& id, environment& env) {
  auto activity = storage::activity_of(t, id);
  activity.updated_at = env.now();
  storage::put_activity(t, id, activity);
}

awaitable<outcome> attach(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto wanted = path_id<block_id>(c, "block_id");
  if (!wanted) co_return wanted.error();
  auto store = [id = *id, wanted = *wanted, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return storage::not_found_for("Agent", id.str(), by);
    auto b = storage::find_block(t, wanted, by.org);
    if (!b) return storage::not_found_for("Block", wanted.str(), by);
    if (auto done = storage::attach_block(t, *a, *b); !done) return done.error();
    touch(t, id, *env);
    return storage::agent_state(t, *storage::find_agent(t, id), agent_relations::all());
  };
  co_return co_await write(c, "agent.attach_block", std::move(store));
}

awaitable<outcome> detach(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto wanted = path_id<block_id>(c, "block_id");
  if (!wanted) co_return wanted.error();
  auto store = [id = *id, wanted = *wanted, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return storage::not_found_for("Agent", id.str(), by);
    auto before = *a;
    if (std::erase(a->block_ids, wanted) == 0)
      return fail(errc::not_found, "No block with id '" + wanted.str() + "' found for agent '" + id.str() +
                                       "' with actor id: '" + by.user.str() + "'");
    a->last_updated_by_id = by.user;
    storage::put_agent(t, *a, &before);
    touch(t, id, *env);
    return storage::agent_state(t, *a, agent_relations::all());
  };
  co_return co_await write(c, "agent.detach_block", std::move(store));
}

} // namespace

void add_agent_memory(router& r) {
  r.add("GET", "/agents/{agent_id}/core-memory", memory);
  r.add("GET", "/agents/{agent_id}/core-memory/blocks", list);
  r.add("GET", "/agents/{agent_id}/core-memory/blocks/{block_label}", retrieve);
  r.add("PATCH", "/agents/{agent_id}/core-memory/blocks/{block_label}", modify);
  r.add("PATCH", "/agents/{agent_id}/core-memory/blocks/attach/{block_id}", attach);
  r.add("PATCH", "/agents/{agent_id}/core-memory/blocks/detach/{block_id}", detach);
}

} // namespace troupe::net::rest
