// /admin/orgs, /admin/users (reference: resources §1.1; recording meta-orgs-users)
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/organizations.hpp"
#include "storage/tools.hpp"

namespace troupe::net::rest {

namespace {

struct org_body {
  std::optional<std::string> name;
  std::optional<bool> privileged_tools;
};
BOOST_DESCRIBE_STRUCT(org_body, (), (name, privileged_tools))

struct create_user_body {
  std::string name;
  org_id organization_id;
  static constexpr std::string_view required[] = {"name", "organization_id"};
};
BOOST_DESCRIBE_STRUCT(create_user_body, (), (name, organization_id))

struct update_user_body {
  user_id id;
  std::optional<std::string> name;
  std::optional<org_id> organization_id;
  static constexpr std::string_view required[] = {"id"};
};
BOOST_DESCRIBE_STRUCT(update_user_body, (), (id, name, organization_id))

struct org_query {
  troupe::org_id org_id;
  static constexpr std::string_view required[] = {"org_id"};
};
BOOST_DESCRIBE_STRUCT(org_query, (), (org_id))
struct user_query {
  troupe::user_id user_id;
  static constexpr std::string_view required[] = {"user_id"};
};
BOOST_DESCRIBE_STRUCT(user_query, (), (user_id))

struct list_query {
  std::optional<std::string> after;
  item_limit limit{50};
};
BOOST_DESCRIBE_STRUCT(list_query, (), (after, limit))

error no_organization(const org_id& id) {
  return fail(errc::not_found, "Organization with id " + id.str() + " not found");
}
error no_user(const user_id& id) { return fail(errc::not_found, "User with id " + id.str() + " not found"); }

awaitable<outcome> create_org(call& c) {
  auto body = body_of<org_body>(c);
  if (!body) co_return body.error();
  auto* env = c.s.env;
  organization o{env->make_id<org_id>(),
                 body->name.value_or("organization-" + env->random_uuid().str().substr(0, 8)), env->now(),
                 body->privileged_tools.value_or(false)};
  auto store = [o, env](storage::transaction& t) -> result<std::string> {
    storage::put_organization(t, o);
    storage::upsert_base_tools(t, o, default_user_id(), *env); // its agents need them as anybody's
    return json::to_text(o);
  };
  co_return co_await write(c, "organization.create", std::move(store));
}

awaitable<outcome> change_org(call& c) {
  auto q = query_of<org_query>(c);
  if (!q) co_return q.error();
  auto body = body_of<org_body>(c);
  if (!body) co_return body.error();
  auto store = [id = q->org_id, change = *body](storage::transaction& t) -> result<std::string> {
    auto o = storage::find_organization(t, id);
    if (!o) return no_organization(id);
    if (change.name) o->name = *change.name;
    if (change.privileged_tools) o->privileged_tools = *change.privileged_tools;
    storage::put_organization(t, *o);
    return json::to_text(*o);
  };
  co_return co_await write(c, "organization.update", std::move(store));
}

awaitable<outcome> delete_org(call& c) {
  auto q = query_of<org_query>(c);
  if (!q) co_return q.error();
  auto store = [id = q->org_id](storage::transaction& t) -> result<std::string> {
    auto o = storage::find_organization(t, id);
    if (!o) return no_organization(id);
    if (id == default_org_id())
      return fail(errc::conflict, "CONFLICT: the default organization cannot be deleted");
    storage::erase_organization(t, id);
    return json::to_text(*o);
  };
  co_return co_await write(c, "organization.delete", std::move(store));
}

awaitable<outcome> list_orgs(call& c) {
  auto q = query_of<list_query>(c);
  if (!q) co_return q.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    return json::to_text(
        storage::list_organizations(r, items(q->limit), org_id::parse(q->after.value_or(""))));
  });
}

awaitable<outcome> create_user(call& c) {
  auto body = body_of<create_user_body>(c);
  if (!body) co_return body.error();
  auto now = c.s.env->now();
  user u{c.s.env->make_id<user_id>(), body->organization_id, body->name, now, now, false};
  auto store = [u](storage::transaction& t) -> result<std::string> {
    if (!storage::find_organization(t, u.organization_id)) return no_organization(u.organization_id);
    storage::put_user(t, u);
    return json::to_text(u);
  };
  co_return co_await write(c, "user.create", std::move(store));
}

awaitable<outcome> change_user(call& c) {
  auto body = body_of<update_user_body>(c);
  if (!body) co_return body.error();
  auto store = [change = *body, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto u = storage::find_user(t, change.id);
    if (!u) return no_user(change.id);
    if (change.organization_id && !storage::find_organization(t, *change.organization_id))
      return no_organization(*change.organization_id);
    if (change.name) u->name = *change.name;
    if (change.organization_id) u->organization_id = *change.organization_id;
    u->updated_at = env->now();
    storage::put_user(t, *u);
    return json::to_text(*u);
  };
  co_return co_await write(c, "user.update", std::move(store));
}

awaitable<outcome> delete_user(call& c) {
  auto q = query_of<user_query>(c);
  if (!q) co_return q.error();
  auto store = [id = q->user_id](storage::transaction& t) -> result<std::string> {
    auto u = storage::find_user(t, id);
    if (!u) return no_user(id);
    if (id == default_user_id()) return fail(errc::conflict, "CONFLICT: the default user cannot be deleted");
    storage::erase_user(t, id);
    return json::to_text(*u);
  };
  co_return co_await write(c, "user.delete", std::move(store));
}

awaitable<outcome> list_users(call& c) {
  auto q = query_of<list_query>(c);
  if (!q) co_return q.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    return json::to_text(storage::list_users(r, items(q->limit), user_id::parse(q->after.value_or(""))));
  });
}

} // namespace

void add_admin(router& r) {
  r.add("GET", "/admin/orgs/", list_orgs);
  r.add("POST", "/admin/orgs/", create_org);
  r.add("PATCH", "/admin/orgs/", change_org);
  r.add("DELETE", "/admin/orgs/", delete_org);
  r.add("GET", "/admin/users/", list_users);
  r.add("POST", "/admin/users/", create_user);
  r.add("PUT", "/admin/users/", change_user);
  r.add("DELETE", "/admin/users/", delete_user);
}

} // namespace troupe::net::rest
