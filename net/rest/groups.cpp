// /groups: create, read, list, change, delete, shared blocks; the groups of an agent (reference: groups §1.2–1.4)
#include "storage/groups.hpp"

#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/blocks.hpp"
#include "storage/organizations.hpp"
#include "storage/sleeptime.hpp"

namespace troupe::net::rest {

namespace {

error no_group(const group_id& id, const actor& by) { return storage::not_found_for("Group", id.str(), by); }

awaitable<outcome> store_new(call& c, group g, const std::vector<block_id>& shared) {
  g.block_ids = shared;
  auto store = [g = std::move(g)](storage::transaction& t) -> result<std::string> {
    auto row = g;
    auto nobodys = [&](auto& id) { return !storage::find_block(t, id, row.organization_id); };
    std::erase_if(row.block_ids, nobodys);
    if (auto done = storage::create_group(t, row); !done) return done.error();
    return json::to_text(row);
  };
  co_return co_await write(c, "group.create", std::move(store));
}

awaitable<outcome> create(call& c) {
  auto body = body_of<create_group>(c);
  if (!body) co_return body.error();
  auto g = make_group(*body, c.by.org, *c.s.env);
  if (!g) co_return g.error();
  co_return co_await store_new(c, std::move(*g), body->shared_block_ids);
}

awaitable<outcome> create_from_template(call& c) {
  auto body = body_of<create_template_group>(c);
  if (!body) co_return body.error();
  create_group plain{body->agent_ids,  body->description,      body->manager_config_,
                     body->project_id, body->shared_block_ids, body->hidden};
  auto g = make_group(plain, c.by.org, *c.s.env);
  if (!g) co_return g.error();
  g->base_template_id = body->base_template_id;
  g->template_id = body->template_id;
  g->deployment_id = body->deployment_id;
  co_return co_await store_new(c, std::move(*g), body->shared_block_ids);
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto g = storage::find_group(r, *id, c.by.org);
    if (!g) return no_group(*id, c.by);
    return json::to_text(*g);
  });
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto body = body_of<update_group>(c);
  if (!body) co_return body.error();
  auto store = [id = *id, change = *body, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto g = storage::find_group(t, id, by.org);
    if (!g) return no_group(id, by);
    if (auto done = apply(*g, change); !done) return done.error();
    if (auto done = storage::update_group(t, *g, *env); !done) return done.error();
    return json::to_text(*g);
  };
  co_return co_await write(c, "group.update", std::move(store));
}

awaitable<outcome> erase(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto store = [id = *id, by = c.by, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto g = storage::find_group(t, id, by.org);
    if (!g) return no_group(id, by);
    storage::erase_group(t, *g, *env);
    return R"({"message":"Group id=)" + id.str() + R"( successfully deleted"})";
  };
  co_return co_await write(c, "group.delete", std::move(store));
}

// -- lists ----------------------------------------------------------------------------------------
struct list_parameters {
  std::optional<manager_type> manager_type_;
  std::optional<std::string> project_id;
  std::optional<bool> show_hidden_groups; // there are none
};
BOOST_DESCRIBE_STRUCT(list_parameters, (), (manager_type_, project_id, show_hidden_groups))

struct parameters_of_agent {
  std::optional<std::string> manager_type_;
};
BOOST_DESCRIBE_STRUCT(parameters_of_agent, (), (manager_type_))

// Cursors that nobody has are passed over.
std::string place_of(const storage::reader& r, const std::optional<std::string>& cursor) {
  auto id = group_id::parse(cursor.value_or(""));
  auto g = id ? storage::find_group(r, *id) : std::nullopt;
  return g ? storage::place(g->created_at, g->id.value) : std::string{};
}

awaitable<outcome> list_page(call& c, storage::group_query q, std::int64_t limit, sort_order order) {
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  q.pages.limit = page->items(limit);
  q.pages.order = page->order.value_or(order);
  auto list = [q, org = c.by.org, before = page->before,
               after = page->after](const storage::reader& r) mutable -> result<std::string> {
    q.pages.before = place_of(r, before);
    q.pages.after = place_of(r, after);
    return json::to_text(storage::list_groups(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> list(call& c) {
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  storage::group_query q;
  q.type = p->manager_type_;
  q.project_id = filled(p->project_id);
  co_return co_await list_page(c, std::move(q), 50, sort_order::asc);
}

awaitable<outcome> list_of_agent(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<parameters_of_agent>(c);
  if (!p) co_return p.error();
  storage::group_query q;
  q.member = *id;
  if (auto word = filled(p->manager_type_)) {
    q.type = json::enum_from<manager_type>(*word);
    if (!q.type) co_return http::response::json("[]"); // of a type that no group has
  }
  co_return co_await list_page(c, std::move(q), 100, sort_order::desc);
}

awaitable<outcome> count(call& c) {
  auto number = [org = c.by.org](const storage::reader& r) -> result<std::string> {
    storage::group_query all;
    all.pages.limit = 0;
    return std::to_string(storage::list_groups(r, org, all).size());
  };
  co_return co_await read_on_worker(c, std::move(number));
}

// -- shared blocks --------------------------------------------------------------------------------
awaitable<outcome> change_blocks(call& c, bool attach) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto wanted = id_named<block_id>(c.path_value("block_id"));
  if (!wanted) co_return wanted.error();
  auto store = [id = *id, wanted = *wanted, attach,
                by = c.by](storage::transaction& t) -> result<std::string> {
    auto g = storage::find_group(t, id, by.org);
    if (!g) return no_group(id, by);
    auto b = storage::find_block(t, wanted, by.org);
    if (!b) return storage::not_found_for("Block", wanted.str(), by);
    if (!attach)
      storage::unshare_block(t, *g, wanted);
    else if (auto done = storage::share_block(t, *g, *b); !done)
      return done.error();
    return "null";
  };
  co_return co_await write(c, "group.block", std::move(store));
}

awaitable<outcome> attach_block(call& c) { co_return co_await change_blocks(c, true); }
awaitable<outcome> detach_block(call& c) { co_return co_await change_blocks(c, false); }

// -- the work of companions -----------------------------------------------------------------------
constexpr std::size_t most_counted = 1000;

std::string_view state_of(const storage::sleeptime_job& j, timestamp now) {
  if (j.working) return j.working->not_before > now ? "waits for another try" : "working";
  if (!j.waiting.empty()) return "waiting";
  return j.last_error ? "failed" : "idle";
}

void write_job(std::string& out, const storage::reader& r, const storage::sleeptime_job& j, timestamp now) {
  storage::history_query behind;
  behind.limit = most_counted;
  behind.newest_first = false;
  behind.after = j.accepted;
  behind.default_thread = !j.conversation;
  behind.conversation = j.conversation;
  json::object_writer w(out);
  w.add("agent_id", j.companion).add("conversation_id", j.conversation).add("state", state_of(j, now));
  w.add("run_id", j.working ? std::optional(j.working->run) : std::nullopt);
  w.add("waiting_run_ids", j.waiting);
  w.add("messages_behind", storage::history(r, j.agent, behind).size());
  w.add("failed_tries", j.working ? j.working->tries.failed : 0);
  w.add("next_at", j.due()).add("last_error", j.last_error);
}

awaitable<outcome> sleeptime_of(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto look = [id = *id, by = c.by, env = c.s.env](const storage::reader& r) -> result<std::string> {
    if (!storage::find_group(r, id, by.org)) return no_group(id, by);
    return json::list_text(storage::jobs_of_group(r, id),
                           [&](auto& out, auto& j) { write_job(out, r, j, env->now()); });
  };
  co_return co_await read_on_worker(c, std::move(look));
}

} // namespace

void add_groups(router& r) {
  r.add("POST", "/groups/", create);
  r.add("PUT", "/groups/", create); // as the first versions had it
  r.add("GET", "/groups/", list);
  r.add("GET", "/groups/count", count);
  r.add("GET", "/groups/{group_id}", retrieve);
  r.add("PATCH", "/groups/{group_id}", modify);
  r.add("PUT", "/groups/{group_id}", modify);
  r.add("DELETE", "/groups/{group_id}", erase);
  r.add("PATCH", "/groups/{group_id}/blocks/attach/{block_id}", attach_block);
  r.add("PATCH", "/groups/{group_id}/blocks/detach/{block_id}", detach_block);
  r.add("GET", "/agents/{agent_id}/groups", list_of_agent);
  r.add("POST", "/_internal_templates/groups", create_from_template);
  r.add("GET", "/groups/{group_id}/sleeptime", sleeptime_of);
}

} // namespace troupe::net::rest
