// Listings of agents and of tags.
#include "core/base/text.hpp"
#include "storage/agents.hpp"
#include "storage/identities.hpp"

#include <algorithm>
#include <map>

namespace troupe::storage {

namespace {

bool matches(const reader& r, const agent& a, const agent_query& q) {
  auto has = [&](auto& t) { return std::find(a.tags.begin(), a.tags.end(), t) != a.tags.end(); };
  if (!q.show_hidden && a.hidden.value_or(false)) return false;
  if (q.name && a.name != *q.name) return false;
  if (q.query_text && !text::contains_ignoring_case(a.name, *q.query_text)) return false;
  if (q.project_id && a.project_id != q.project_id) return false;
  if (q.template_id && a.template_id != q.template_id) return false;
  if (q.base_template_id && a.base_template_id != q.base_template_id) return false;
  if (q.identity &&
      std::find(a.identity_ids.begin(), a.identity_ids.end(), *q.identity) == a.identity_ids.end())
    return false;
  auto has_key = [&](auto& id) {
    auto i = find_identity(r, id);
    return i && std::find(q.identifier_keys.begin(), q.identifier_keys.end(), i->identifier_key) !=
                    q.identifier_keys.end();
  };
  if (!q.identifier_keys.empty() && std::none_of(a.identity_ids.begin(), a.identity_ids.end(), has_key))
    return false;
  if (q.created_by_id && (!a.created_by_id || a.created_by_id->str() != *q.created_by_id)) return false;
  if (!q.tags.empty() && !(q.match_all_tags ? std::all_of(q.tags.begin(), q.tags.end(), has)
                                            : std::any_of(q.tags.begin(), q.tags.end(), has)))
    return false;
  return !q.last_stop_reason || activity_of(r, a.id).last_stop_reason == q.last_stop_reason;
}

// The narrowest index that a query allows; all of them end in created | id.
key index_for(const org_id& org, const agent_query& q) {
  if (q.name) return key(table::agents_by_name).add(org).text(*q.name);
  if (q.tags.size() == 1 || (q.match_all_tags && !q.tags.empty()))
    return key(table::tags).add(org).text(q.tags[0]).add('a');
  return key(table::agents_by_org).add(org);
}

std::string cursor_place(const reader& r, const std::optional<agent_id>& cursor) {
  auto a = cursor ? find_agent(r, *cursor) : std::nullopt;
  return a ? place(a->created_at, a->id.value) : std::string{};
}

std::vector<agent> by_creation(const reader& r, const org_id& org, const agent_query& q) {
  std::vector<agent> out;
  page p{.limit = q.limit,
         .order = q.order,
         .after = cursor_place(r, q.after),
         .before = cursor_place(r, q.before)};
  list(r, index_for(org, q), p, [&](const uuid& id) {
    auto a = find_agent(r, agent_id{id});
    if (!a || !matches(r, *a, q)) return false;
    out.push_back(std::move(*a));
    return true;
  });
  return out;
}

struct sortable {
  agent a;
  std::optional<timestamp> value;
};

sortable with_value(const reader& r, agent a, agent_order by) {
  auto activity = activity_of(r, a.id);
  auto value =
      by == agent_order::updated_at ? std::optional(activity.updated_at) : activity.last_run_completion;
  return {std::move(a), value};
}

// By a value that no index holds: everything that matches is sorted; those without a value come last in both orders. A
// cursor that does not match goes by its own value.
std::vector<agent> by_value(const reader& r, const org_id& org, agent_query q) {
  auto limit = q.limit;
  auto after = q.after, before = q.before;
  q.limit = 0;
  q.after.reset();
  q.before.reset();
  std::vector<sortable> all;
  for (auto& a : by_creation(r, org, q)) all.push_back(with_value(r, std::move(a), q.by));
  bool up = q.order == sort_order::asc;
  auto earlier = [&](const sortable& x, const sortable& y) {
    if (x.value.has_value() != y.value.has_value()) return x.value.has_value();
    if (x.value != y.value) return up ? x.value < y.value : y.value < x.value;
    return up ? (x.a.id) < (y.a.id) : (y.a.id) < (x.a.id);
  };
  std::sort(all.begin(), all.end(), earlier);
  auto row = [&](const std::optional<agent_id>& cursor) {
    return cursor ? find_agent(r, *cursor, org) : std::nullopt;
  };
  auto first = all.begin(), last = all.end();
  if (auto a = row(after)) first = std::upper_bound(first, last, with_value(r, *a, q.by), earlier);
  if (auto a = row(before)) last = std::lower_bound(all.begin(), last, with_value(r, *a, q.by), earlier);
  std::vector<agent> out;
  for (; first < last && (limit == 0 || out.size() < limit); ++first) out.push_back(std::move(first->a));
  return out;
}

} // namespace

std::vector<agent> list_agents(const reader& r, const org_id& org, const agent_query& q) {
  return q.by == agent_order::created_at ? by_creation(r, org, q) : by_value(r, org, q);
}

std::size_t count_agents(const reader& r, const org_id& org, const agent_query& q) {
  auto all = q;
  all.limit = 0;
  all.by = agent_order::created_at;
  return by_creation(r, org, all).size();
}

std::vector<std::string> list_tags(const reader& r, const org_id& org, const tag_query& q) {
  std::vector<std::string> out;
  auto prefix = key(table::tags).add(org);
  bool up = q.order == sort_order::asc;
  auto inside = [&](const std::string& tag) {
    if (q.after && (up ? tag <= *q.after : tag >= *q.after)) return false;
    if (q.before && (up ? tag >= *q.before : tag <= *q.before)) return false;
    return !q.part || text::contains_ignoring_case(tag, *q.part);
  };
  r.scan_prefix(prefix, up ? reader::direction::forward : reader::direction::backward,
                [&](auto, std::string_view v) {
                  std::string tag(v);
                  if (!out.empty() && out.back() == tag) return true;
                  if (inside(tag)) {
                    if (q.limit && out.size() == q.limit) return false;
                    out.push_back(std::move(tag));
                  }
                  return true;
                });
  return out;
}

} // namespace troupe::storage
