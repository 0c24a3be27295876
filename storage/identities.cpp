#include "storage/identities.hpp"

#include "core/base/text.hpp"
#include "storage/agents.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

key key_of(const org_id& org, const std::optional<std::string>& project, std::string_view identifier) {
  return key(table::identities_by_key).add(org).text(project.value_or("")).text(identifier);
}

key place_of(const identity& i) {
  return key(table::identities_by_org).add(i.organization_id).add(i.created_at).add(i.id);
}

} // namespace

std::optional<identity> find_identity(const reader& r, const identity_id& id) {
  return load<identity>(r, key(table::identities).add(id));
}

std::optional<identity> find_identity(const reader& r, const identity_id& id, const org_id& org) {
  return of_org(find_identity(r, id), org);
}

std::optional<identity> find_identity_by_key(const reader& r, const org_id& org,
                                             const std::optional<std::string>& project,
                                             std::string_view identifier) {
  auto id = r.get(key_of(org, project, identifier));
  return id ? find_identity(r, identity_id::from_key(*id)) : std::nullopt;
}

result<void> put_identity(transaction& t, const identity& i) {
  auto taken = find_identity_by_key(t, i.organization_id, i.project_id, i.identifier_key);
  if (taken && taken->id != i.id)
    return fail(errc::conflict,
                "CONFLICT: an identity with the key '" + i.identifier_key + "' exists already");
  if (auto old = find_identity(t, i.id))
    t.erase(key_of(old->organization_id, old->project_id, old->identifier_key));
  save(t, key(table::identities).add(i.id), i);
  t.put(place_of(i), {});
  t.put(key_of(i.organization_id, i.project_id, i.identifier_key), i.id.key());
  return {};
}

void keep_agents(transaction& t, const identity& i, const std::vector<agent_id>& agents) {
  for (auto& id : agents_of_identity(t, i.id)) {
    auto a = find_agent(t, id);
    if (!a || std::find(agents.begin(), agents.end(), id) != agents.end()) continue;
    auto changed = *a;
    std::erase(changed.identity_ids, i.id);
    put_agent(t, changed, &*a);
  }
}

void erase_identity(transaction& t, const identity& i) {
  keep_agents(t, i, {});
  t.erase(key_of(i.organization_id, i.project_id, i.identifier_key));
  t.erase(place_of(i));
  t.erase(key(table::identities).add(i.id));
}

std::vector<agent_id> agents_of_identity(const reader& r, const identity_id& id) {
  std::vector<agent_id> out;
  r.scan_prefix(key(table::identity_agents).add(id), reader::direction::forward,
                [&](auto k, auto) { return out.emplace_back(last_uuid(k)), true; });
  return out;
}

void add_agents(transaction& t, const identity& i, const std::vector<agent_id>& agents) {
  for (auto& id : agents) {
    auto a = find_agent(t, id, i.organization_id);
    if (!a || std::find(a->identity_ids.begin(), a->identity_ids.end(), i.id) != a->identity_ids.end())
      continue;
    auto changed = *a;
    changed.identity_ids.push_back(i.id);
    put_agent(t, changed, &*a);
  }
}

std::vector<identity> list_identities(const reader& r, const org_id& org, const identity_query& q) {
  std::vector<identity> out;
  list(r, key(table::identities_by_org).add(org), q.pages, [&](const uuid& id) {
    auto i = find_identity(r, identity_id{id});
    if (!i || (q.name && !text::contains_ignoring_case(i->name, *q.name))) return false;
    if (q.project_id && i->project_id != q.project_id) return false;
    if (q.identifier_key && i->identifier_key != *q.identifier_key) return false;
    if (q.type && i->identity_type_ != *q.type) return false;
    out.push_back(std::move(*i));
    return true;
  });
  return out;
}

} // namespace troupe::storage
