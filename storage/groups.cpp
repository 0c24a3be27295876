#include "storage/groups.hpp"

#include "storage/agents.hpp"
#include "storage/blocks.hpp"
#include "storage/conversations.hpp"
#include "storage/group_runs.hpp"
#include "storage/sleeptime.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

constexpr char member = 'm', manager = 'l';

key place_of(const group& g) {
  return key(table::groups_by_org).add(g.organization_id).add(g.created_at).add(g.id);
}
key belongs(const agent_id& agent, char how) { return key(table::group_agents).add(agent).add(how); }
key belongs(const agent_id& agent, char how, const group& g) {
  return belongs(agent, how).add(g.created_at).add(g.id);
}

bool contains(const std::vector<agent_id>& list, const agent_id& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// The agents that are there, members first.
std::vector<agent> agents_of(const reader& r, const group& g) {
  std::vector<agent> out;
  auto add = [&](const agent_id& id) {
    if (auto a = find_agent(r, id)) out.push_back(std::move(*a));
  };
  for (auto& id : g.agent_ids) add(id);
  if (g.manager_agent_id && !contains(g.agent_ids, *g.manager_agent_id)) add(*g.manager_agent_id);
  return out;
}

result<void> check_members(const reader& r, const group& g) {
  if (auto done = check_distinct(g); !done) return done;
  std::vector<std::string> names;
  std::string missing;
  for (auto& id : g.agent_ids) {
    auto a = find_agent(r, id, g.organization_id);
    if (!a)
      missing += (missing.empty() ? "'" : ", '") + id.str() + "'";
    else if (g.manager_type_ == manager_type::dynamic &&
             std::find(names.begin(), names.end(), a->name) != names.end())
      return fail(errc::invalid_argument, "Duplicate agent names found in the provided agent IDs.");
    else
      names.push_back(a->name);
  }
  if (!missing.empty()) return fail(errc::not_found, "Items not found in agents: {" + missing + "}");
  return {};
}

result<void> check_manager(const reader& r, const group& g) {
  if (!g.manager_agent_id || find_agent(r, *g.manager_agent_id, g.organization_id)) return {};
  return fail(errc::conflict, "CONFLICT: the manager " + g.manager_agent_id->str() + " does not exist");
}

void erase_relations(transaction& t, const group& g) {
  for (auto& id : g.agent_ids) t.erase(belongs(id, member, g));
  if (g.manager_agent_id) t.erase(belongs(*g.manager_agent_id, manager, g));
}

// Who was deleted is named by the group and does not belong to it.
void put_group(transaction& t, const group& g) {
  save_group(t, g);
  t.put(place_of(g), {});
  for (auto& id : g.agent_ids)
    if (find_agent(t, id)) t.put(belongs(id, member, g), {});
  if (g.manager_agent_id) t.put(belongs(*g.manager_agent_id, manager, g), {});
}

std::vector<group> groups_below(const reader& r, const key& prefix) {
  std::vector<group> out;
  r.scan_prefix(prefix, reader::direction::forward, [&](auto k, auto) {
    if (auto g = find_group(r, group_id{last_uuid(k)})) out.push_back(std::move(*g));
    return true;
  });
  return out;
}

} // namespace

std::optional<group> find_group(const reader& r, const group_id& id) {
  return load<group>(r, key(table::groups).add(id));
}

std::optional<group> find_group(const reader& r, const group_id& id, const org_id& org) {
  return of_org(find_group(r, id), org);
}

result<void> create_group(transaction& t, const group& g) {
  if (auto done = check_members(t, g); !done) return done;
  if (auto done = check_manager(t, g); !done) return done;
  put_group(t, g);
  for (auto& id : g.block_ids) {
    auto b = find_block(t, id, g.organization_id);
    if (!b) return fail(errc::not_found, "Items not found in blocks: {'" + id.str() + "'}");
    if (auto done = share_block(t, g, *b); !done) return done;
  }
  return {};
}

result<void> update_group(transaction& t, const group& g, environment& env) {
  auto old = find_group(t, g.id);
  if (!old || old->agent_ids != g.agent_ids)
    if (auto done = check_members(t, g); !done) return done;
  if (auto done = check_manager(t, g); !done) return done;
  if (old) erase_relations(t, *old);
  put_group(t, g);
  if (old && is_sleeptime(g.manager_type_))
    for (auto& id : old->agent_ids)
      if (!contains(g.agent_ids, id)) forget_jobs(t, g.id, id, env);
  return {};
}

void save_group(transaction& t, const group& g) { save(t, key(table::groups).add(g.id), g); }

void erase_group(transaction& t, const group& g, environment& env) {
  if (is_sleeptime(g.manager_type_)) forget_jobs(t, g.id, std::nullopt, env);
  erase_group_log(t, g.id);
  erase_relations(t, g);
  t.erase(place_of(g));
  t.erase(key(table::groups).add(g.id));
}

std::vector<group> groups_of_member(const reader& r, const agent_id& agent) {
  return groups_below(r, belongs(agent, member));
}

std::vector<group> groups_of_manager(const reader& r, const agent_id& agent) {
  return groups_below(r, belongs(agent, manager));
}

std::optional<group> managed_group(const reader& r, const agent_id& agent) {
  std::optional<group> out;
  r.scan_prefix(belongs(agent, manager), reader::direction::forward,
                [&](auto k, auto) { return out = find_group(r, group_id{last_uuid(k)}), !out; });
  return out;
}

std::optional<group_id> group_led_by(const reader& r, const agent_id& agent) {
  auto g = managed_group(r, agent);
  return g && leads(g->manager_type_) ? std::optional(g->id) : std::nullopt;
}

void leave_groups(transaction& t, const agent_id& agent) { t.erase_prefix(belongs(agent, member)); }

std::vector<group> list_groups(const reader& r, const org_id& org, const group_query& q) {
  std::vector<group> out;
  auto index = q.member ? belongs(*q.member, member) : key(table::groups_by_org).add(org);
  list(r, index, q.pages, [&](const uuid& id) {
    auto g = find_group(r, group_id{id}, org);
    if (!g || (q.type && g->manager_type_ != *q.type)) return false;
    if (q.project_id && g->project_id != q.project_id) return false;
    out.push_back(std::move(*g));
    return true;
  });
  return out;
}

// -- shared blocks --------------------------------------------------------------------------------
result<void> share_block(transaction& t, group g, const block& b) {
  for (auto& a : agents_of(t, g))
    if (auto done = attach_block(t, a, b); !done) return done;
  if (std::find(g.block_ids.begin(), g.block_ids.end(), b.id) == g.block_ids.end()) {
    g.block_ids.push_back(b.id);
    put_group(t, g);
  }
  return {};
}

void unshare_block(transaction& t, group g, const block_id& b) {
  if (std::erase(g.block_ids, b) == 0) return;
  put_group(t, g);
  for (auto& a : agents_of(t, g)) {
    auto changed = a;
    if (std::erase(changed.block_ids, b) > 0) put_agent(t, changed, &a);
  }
}

// -- messages -------------------------------------------------------------------------------------
std::vector<message_place> group_messages(const reader& r, const group& g, bool everybody) {
  std::vector<message_place> out;
  r.scan_prefix(key(table::group_messages).add(g.id), reader::direction::forward,
                [&](std::string_view k, std::string_view v) {
                  message_place at{agent_id::from_key(v), number_at(k, k.size() - 8)};
                  bool shown = everybody || !g.manager_agent_id || at.agent == *g.manager_agent_id;
                  auto m = shown ? load_message(r, at) : nullptr;
                  if (m && m->organization_id == g.organization_id) out.push_back(at);
                  return true;
                });
  return out;
}

std::vector<context_key> contexts_of(const reader& r, const std::vector<message_place>& messages) {
  std::vector<agent_id> agents;
  for (auto& m : messages)
    if (!contains(agents, m.agent)) agents.push_back(m.agent);
  std::vector<context_key> out;
  for (auto& id : agents) {
    out.push_back({id, std::nullopt});
    for (auto& c : conversations_of(r, id)) out.push_back({id, c});
  }
  std::erase_if(out, [&](auto& c) { return !holds_any(r, c, messages); });
  return out;
}

void erase_group_messages(transaction& t, const std::vector<message_place>& messages) {
  for (auto& c : contexts_of(t, messages)) unlink_messages(t, c, messages);
  for (auto& at : messages)
    if (load_message(t, at)) count_messages(t, at.agent, -1);
  erase_messages(t, messages);
}

} // namespace troupe::storage
