#include "storage/blocks.hpp"

#include "core/base/text.hpp"
#include "storage/agents.hpp"
#include "storage/companions.hpp"
#include "storage/conversations.hpp"
#include "storage/prompts.hpp"

#include <algorithm>

namespace troupe::storage {

std::optional<block> find_block(const reader& r, const block_id& id) {
  return load<block>(r, key(table::blocks).add(id));
}

std::optional<block> find_block(const reader& r, const block_id& id, const org_id& org) {
  return of_org(find_block(r, id), org);
}

std::vector<agent_id> agents_of_block(const reader& r, const block_id& id) {
  std::vector<agent_id> out;
  r.scan_prefix(key(table::block_agents).add(id), reader::direction::forward,
                [&](auto k, auto) { return out.emplace_back(last_uuid(k)), true; });
  return out;
}

namespace {

key tag_key(const org_id& org, std::string_view tag, const block& b) {
  return key(table::tags).add(org).text(tag).add('b').add(b.created_at).add(b.id);
}

bool has_tags(const std::vector<std::string>& have, const std::vector<std::string>& want, bool all) {
  auto has = [&](auto& t) { return std::find(have.begin(), have.end(), t) != have.end(); };
  return want.empty() ||
         (all ? std::all_of(want.begin(), want.end(), has) : std::any_of(want.begin(), want.end(), has));
}

bool matches(const reader& r, const block& b, const block_query& q) {
  auto holds = [](const std::optional<std::string>& part, std::string_view text) {
    return !part || text::contains_ignoring_case(text, *part);
  };
  if (q.is_template && b.is_template != *q.is_template) return false;
  if (!q.show_hidden && b.hidden.value_or(false)) return false;
  if (q.label && b.label != *q.label) return false;
  if (q.name && b.template_name != q.name) return false;
  if (q.project_id && b.project_id != q.project_id) return false;
  if (!holds(q.label_search, b.label) || !holds(q.value_search, b.value)) return false;
  if (q.description_search && !holds(q.description_search, b.description.value_or(""))) return false;
  if (!has_tags(b.tags, q.tags, q.match_all_tags)) return false;
  if (q.among && std::find(q.among->begin(), q.among->end(), b.id) == q.among->end()) return false;
  if (!q.agents_above && !q.agents_below && q.agents_exactly.empty()) return true;
  auto n = static_cast<std::int64_t>(r.count_prefix(key(table::block_agents).add(b.id)));
  if (q.agents_above && n <= *q.agents_above) return false;
  if (q.agents_below && n >= *q.agents_below) return false;
  return q.agents_exactly.empty() ||
         std::find(q.agents_exactly.begin(), q.agents_exactly.end(), n) != q.agents_exactly.end();
}

// The narrowest index that a query allows.
key index_for(const org_id& org, const block_query& q) {
  if (q.label) return key(table::blocks_by_label).add(org).text(*q.label);
  if (q.tags.size() == 1) return key(table::tags).add(org).text(q.tags[0]).add('b');
  return key(table::blocks_by_org).add(org);
}

} // namespace

std::vector<block> list_blocks(const reader& r, const org_id& org, const block_query& q) {
  std::vector<block> out;
  list(r, index_for(org, q), q.pages, [&](const uuid& id) {
    auto b = find_block(r, block_id{id});
    if (!b || !matches(r, *b, q)) return false;
    out.push_back(std::move(*b));
    return true;
  });
  return out;
}

std::size_t count_blocks(const reader& r, const org_id& org, const block_query& q) {
  auto all = q;
  all.pages = page{.limit = 0, .order = sort_order::asc, .after = {}, .before = {}};
  all.show_hidden = true;
  return list_blocks(r, org, all).size();
}

namespace {

std::vector<std::string> each_once(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  for (auto& x : items)
    if (std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);
  return out;
}

} // namespace

void put_block(transaction& t, const block& given) {
  auto b = given;
  b.tags = each_once(given.tags);
  auto old = find_block(t, b.id);
  if (old) {
    if (old->label != b.label)
      t.erase(
          key(table::blocks_by_label).add(b.organization_id).text(old->label).add(b.created_at).add(b.id));
    for (auto& tag : old->tags)
      if (std::find(b.tags.begin(), b.tags.end(), tag) == b.tags.end())
        t.erase(tag_key(b.organization_id, tag, b));
  }
  save(t, key(table::blocks).add(b.id), b);
  if (!old) t.put(key(table::blocks_by_org).add(b.organization_id).add(b.created_at).add(b.id), {});
  if (!old || old->label != b.label)
    t.put(key(table::blocks_by_label).add(b.organization_id).text(b.label).add(b.created_at).add(b.id), {});
  for (auto& tag : b.tags) t.put(tag_key(b.organization_id, tag, b), tag);
}

namespace {

// The agent among those of the block that has another block of this label.
std::optional<agent_id> label_taken(const reader& r, const block& b, const std::string& label) {
  for (auto& agent : agents_of_block(r, b.id))
    for (auto& other : blocks_of_agent(r, agent))
      if (other.id != b.id && other.label == label) return agent;
  return std::nullopt;
}

error label_conflict(const std::string& label) {
  return fail(errc::conflict,
              "CONFLICT: another block with the label '" + label +
                  "' is attached to an agent of this block; labels are unique inside an agent");
}

} // namespace

result<block> change_block(transaction& t, const block& before, const update_block& change,
                           environment& env) {
  auto b = before;
  if (change.label && *change.label != b.label && label_taken(t, b, *change.label))
    return label_conflict(*change.label);
  bool shown = apply(b, change);
  b.updated_at = env.now();
  ++b.version;
  put_block(t, b);
  if (shown)
    for (auto& agent : agents_of_block(t, b.id)) rebuild_system_message(t, agent, keep_time);
  return b;
}

void erase_block(transaction& t, const block& b, environment&) {
  for (auto& id : agents_of_block(t, b.id)) {
    auto a = find_agent(t, id);
    if (!a) continue;
    auto changed = *a;
    std::erase(changed.block_ids, b.id);
    put_agent(t, changed, &*a);
  }
  t.erase_prefix(key(table::block_agents).add(b.id));
  for (auto& tag : b.tags) t.erase(tag_key(b.organization_id, tag, b));
  t.erase(key(table::blocks_by_label).add(b.organization_id).text(b.label).add(b.created_at).add(b.id));
  t.erase(key(table::blocks_by_org).add(b.organization_id).add(b.created_at).add(b.id));
  t.erase(key(table::blocks).add(b.id));
}

namespace {

using kind = tools::memory_edit::kind;

error stale(const block_id& id) {
  return fail(errc::conflict, "CONFLICT: block " + id.str() + " was changed in the meantime");
}

bool holds(const std::vector<block_id>& ids, const block_id& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Checked before anything is written: the first edit of each block must be on its present version.
std::optional<error> check_versions(const reader& r, const agent& a, const std::vector<block_id>& own,
                                    const std::vector<tools::memory_edit>& edits) {
  std::vector<block_id> seen;
  for (auto& e : edits) {
    if (e.what == kind::create) {
      for (auto& b : blocks_of_agent(r, a.id))
        if (b.label == e.created->label) return stale(b.id);
      seen.push_back(e.id);
      continue;
    }
    if (std::find(seen.begin(), seen.end(), e.id) != seen.end()) continue;
    seen.push_back(e.id);
    auto b = find_block(r, e.id);
    bool attached = holds(a.block_ids, e.id) || holds(own, e.id);
    if (!b || !attached || b->version != e.base_version) return stale(e.id);
    if (e.what == kind::rename && label_taken(r, *b, e.text)) return stale(e.id);
  }
  return std::nullopt;
}

} // namespace

result<std::vector<block_id>> apply_edits(transaction& t, const agent_id& by,
                                          const std::optional<conversation_id>& conversation,
                                          const std::vector<tools::memory_edit>& edits, environment& env) {
  std::vector<block_id> changed;
  if (edits.empty()) return changed;
  auto a = find_agent(t, by);
  if (!a) return fail(errc::not_found, "Agent with ID " + by.str() + " not found");
  auto c = conversation ? find_conversation(t, *conversation) : std::nullopt;
  if (auto wrong = check_versions(t, *a, c ? c->isolated_block_ids : std::vector<block_id>{}, edits))
    return *wrong;
  for (auto& e : edits) {
    if (std::find(changed.begin(), changed.end(), e.id) == changed.end()) changed.push_back(e.id);
    auto old = *a;
    if (e.what == kind::create) {
      put_block(t, *e.created);
      a->block_ids.push_back(e.id);
      put_agent(t, *a, &old);
      share_with_companions(t, *a, *e.created);
      continue;
    }
    if (e.what == kind::detach) {
      if (c && std::erase(c->isolated_block_ids, e.id) > 0) put_conversation(t, *c);
      if (std::erase(a->block_ids, e.id) > 0) put_agent(t, *a, &old);
      continue;
    }
    auto b = *find_block(t, e.id);
    (e.what == kind::value ? b.value : e.what == kind::rename ? b.label : b.description.emplace()) = e.text;
    b.updated_at = env.now();
    ++b.version;
    put_block(t, b);
  }
  return changed;
}

} // namespace troupe::storage
