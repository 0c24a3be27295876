#include "storage/tools.hpp"

#include "core/base/text.hpp"
#include "core/tools/base_tools.hpp"
#include "storage/agents.hpp"

#include <algorithm>

namespace troupe::storage {

std::optional<tool> find_tool(const reader& r, const tool_id& id) {
  return load<tool>(r, key(table::tools).add(id));
}

std::optional<tool> find_tool(const reader& r, const tool_id& id, const org_id& org) {
  return of_org(find_tool(r, id), org);
}

std::optional<tool> find_tool_by_name(const reader& r, const org_id& org, std::string_view name) {
  auto id = r.get(key(table::tools_by_name).add(org).text(name));
  return id ? find_tool(r, tool_id::from_key(*id)) : std::nullopt;
}

namespace {

template <class T> bool one_of(const std::vector<T>& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

bool is_letta(tool_type t) {
  return t != tool_type::custom && t != tool_type::external_langchain && t != tool_type::external_composio &&
         t != tool_type::external_mcp;
}

// The beginning of the character behind the one at `i`.
std::size_t behind(std::string_view s, std::size_t i) {
  do ++i;
  while (i < s.size() && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80);
  return i;
}

// SQL's LIKE: % is any text, _ one character, and behind \ a character is itself.
bool is_like(std::string_view s, std::string_view pattern) {
  constexpr auto none = std::string_view::npos;
  std::size_t i = 0, p = 0, any = none,
              from = 0; // `any`: the last % that was passed; it reaches up to `from`
  while (i < s.size()) {
    char wanted = p < pattern.size() ? pattern[p] : '\0';
    std::size_t own = wanted == '\\' && p + 1 < pattern.size() ? p + 1 : p;
    if (p < pattern.size() && wanted == '%') {
      any = p++;
      from = i;
    } else if (p < pattern.size() && wanted == '_') {
      i = behind(s, i);
      ++p;
    } else if (own < pattern.size() && pattern[own] == s[i]) {
      ++i;
      p = own + 1;
    } else if (any != none) {
      i = from = behind(s, from);
      p = any + 1;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', p) == none;
}

bool matches(const tool& t, const tool_query& q) {
  if (!q.names.empty() && !one_of(q.names, t.name)) return false;
  if (!q.ids.empty() && !one_of(q.ids, t.id)) return false;
  if (q.search && !is_like(text::lower(t.name), text::lower("%" + *q.search + "%"))) return false;
  if (!q.types.empty() && !one_of(q.types, t.tool_type_)) return false;
  if (one_of(q.excluded_types, t.tool_type_)) return false;
  if (q.only_letta && !is_letta(t.tool_type_)) return false;
  if (q.exclude_letta && is_letta(t.tool_type_)) return false;
  return !q.project || !t.project_id || t.project_id == q.project;
}

} // namespace

std::vector<tool> list_tools(const reader& r, const org_id& org, const tool_query& q) {
  std::vector<tool> out;
  list(r, key(table::tools_by_org).add(org), q.pages, [&](const uuid& id) {
    auto t = find_tool(r, tool_id{id});
    if (!t || !matches(*t, q)) return false;
    out.push_back(std::move(*t));
    return true;
  });
  return out;
}

std::size_t count_tools(const reader& r, const org_id& org, const tool_query& q) {
  auto all = q;
  all.pages = page{.limit = 0, .order = sort_order::asc, .after = {}, .before = {}};
  return list_tools(r, org, all).size();
}

bool lacks_base_tools(const reader& r, const org_id& org) {
  auto& all = tools::base_tools();
  return std::any_of(all.begin(), all.end(),
                     [&](auto& base) { return !find_tool_by_name(r, org, base.name); });
}

void put_tool(transaction& t, const tool& row) {
  if (auto old = find_tool(t, row.id); old && old->name != row.name)
    t.erase(key(table::tools_by_name).add(row.organization_id).text(old->name));
  save(t, key(table::tools).add(row.id), row);
  t.put(key(table::tools_by_org).add(row.organization_id).add(row.created_at).add(row.id), {});
  t.put(key(table::tools_by_name).add(row.organization_id).text(row.name), row.id.key());
}

void delete_tool(transaction& t, const tool& row) {
  std::vector<agent_id> users;
  t.scan_prefix(key(table::tool_agents).add(row.id), reader::direction::forward,
                [&](auto k, auto) { return users.emplace_back(last_uuid(k)), true; });
  for (auto& id : users)
    if (auto a = find_agent(t, id)) {
      auto before = *a;
      std::erase(a->tool_ids, row.id);
      put_agent(t, *a, &before);
    }
  t.erase(key(table::tools).add(row.id));
  t.erase(key(table::tools_by_org).add(row.organization_id).add(row.created_at).add(row.id));
  t.erase(key(table::tools_by_name).add(row.organization_id).text(row.name));
}

std::vector<tool> upsert_base_tools(transaction& t, const organization& org, const user_id& by,
                                    environment& env) {
  std::vector<tool> out;
  for (auto& base : tools::base_tools()) {
    auto row = find_tool_by_name(t, org.id, base.name);
    bool changed = true;
    if (row)
      changed = tools::refresh_base_tool(*row, base);
    else
      row = tools::make_base_tool(base, org, by, env);
    if (changed) put_tool(t, *row);
    out.push_back(std::move(*row));
  }
  return out;
}

} // namespace troupe::storage
