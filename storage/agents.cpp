#include "storage/agents.hpp"

#include "core/json/writer.hpp"
#include "storage/blocks.hpp"
#include "storage/companions.hpp"
#include "storage/conversations.hpp"
#include "storage/groups.hpp"
#include "storage/identities.hpp"
#include "storage/runs.hpp"
#include "storage/tools.hpp"
#include "storage/voice_memories.hpp"

#include <algorithm>

namespace troupe::storage {

std::optional<agent> find_agent(const reader& r, const agent_id& id) {
  return load<agent>(r, key(table::agents).add(id));
}

std::optional<agent> find_agent(const reader& r, const agent_id& id, const org_id& org) {
  return of_org(find_agent(r, id), org);
}

agent_activity activity_of(const reader& r, const agent_id& id) {
  return load<agent_activity>(r, key(table::agent_activity).add(id)).value_or(agent_activity{});
}

void put_activity(transaction& t, const agent_id& id, const agent_activity& a) {
  save(t, key(table::agent_activity).add(id), a);
}

void count_messages(transaction& t, const agent_id& id, std::int64_t n) {
  auto activity = activity_of(t, id);
  activity.message_count += n;
  put_activity(t, id, activity);
}

std::vector<block> blocks_of(const reader& r, const agent& a) {
  std::vector<block> out;
  for (auto& id : a.block_ids)
    if (auto b = find_block(r, id)) out.push_back(std::move(*b));
  return out;
}

std::vector<block> blocks_of_agent(const reader& r, const agent_id& id) {
  auto a = find_agent(r, id);
  return a ? blocks_of(r, *a) : std::vector<block>{};
}

std::vector<block> blocks_of_context(const reader& r, const agent& a,
                                     const std::optional<conversation_id>& conversation) {
  auto out = blocks_of(r, a);
  auto c = conversation ? find_conversation(r, *conversation) : std::nullopt;
  if (!c) return out;
  for (auto& id : c->isolated_block_ids)
    if (auto own = find_block(r, id)) {
      auto it = std::find_if(out.begin(), out.end(), [&](auto& b) { return b.label == own->label; });
      if (it != out.end())
        *it = std::move(*own);
      else
        out.push_back(std::move(*own));
    }
  return out;
}

std::vector<tool> tools_of(const reader& r, const agent& a) {
  std::vector<tool> out;
  for (auto& id : a.tool_ids)
    if (auto t = find_tool(r, id)) out.push_back(std::move(*t));
  return out;
}

namespace {

key tag_key(const agent& a, std::string_view tag) {
  return key(table::tags).add(a.organization_id).text(tag).add('a').add(a.created_at).add(a.id);
}
key name_key(const agent& a) {
  return key(table::agents_by_name).add(a.organization_id).text(a.name).add(a.created_at).add(a.id);
}

template <class T> bool contains(const std::vector<T>& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// Puts and erases what differs between the old and the new members of a relation.
template <class T, class MakeKey>
void sync(transaction& t, const std::vector<T>& old, const std::vector<T>& now, MakeKey make_key) {
  for (auto& x : old)
    if (!contains(now, x)) t.erase(make_key(x));
  for (auto& x : now)
    if (!contains(old, x)) t.put(make_key(x), {});
}

} // namespace

void put_agent(transaction& t, const agent& a, const agent* old) {
  static const agent none;
  auto& before = old ? *old : none;
  save(t, key(table::agents).add(a.id), a);
  if (!old) t.put(key(table::agents_by_org).add(a.organization_id).add(a.created_at).add(a.id), {});
  if (old && old->name != a.name) t.erase(name_key(*old));
  if (!old || old->name != a.name) t.put(name_key(a), {});
  sync(t, before.block_ids, a.block_ids,
       [&](auto& id) { return key(table::block_agents).add(id).add(a.id); });
  sync(t, before.tool_ids, a.tool_ids, [&](auto& id) { return key(table::tool_agents).add(id).add(a.id); });
  sync(t, before.identity_ids, a.identity_ids,
       [&](auto& id) { return key(table::identity_agents).add(id).add(a.id); });
  for (auto& tag : before.tags)
    if (!contains(a.tags, tag)) t.erase(tag_key(a, tag));
  for (auto& tag : a.tags)
    if (!contains(before.tags, tag)) t.put(tag_key(a, tag), tag);
}

void create_agent(transaction& t, const agents::new_agent& made) {
  auto& a = made.record;
  for (auto& b : made.blocks) put_block(t, b);
  put_agent(t, a, nullptr);
  std::vector<stored_message> messages;
  for (auto& m : made.messages) messages.push_back(std::make_shared<const message>(m));
  context_key context{a.id, std::nullopt};
  append_messages(t, messages, &context);
  agent_activity activity;
  activity.updated_at = a.created_at;
  activity.message_count = static_cast<std::int64_t>(messages.size());
  put_activity(t, a.id, activity);
}

void erase_agent(transaction& t, const agent& a) {
  erase_conversations(t, a.id);
  erase_runs(t, a.id);
  erase_history(t, a.id, a.organization_id);
  leave_groups(t, a.id);
  auto bare = a;
  bare.block_ids.clear();
  bare.tool_ids.clear();
  bare.tags.clear();
  bare.identity_ids.clear();
  put_agent(t, bare, &a); // takes its entries out of the indexes of relations
  t.erase(name_key(a));
  t.erase(key(table::agents_by_org).add(a.organization_id).add(a.created_at).add(a.id));
  t.erase(key(table::agent_activity).add(a.id));
  erase_voice_memories(t, a.id);
  t.erase(key(table::agents).add(a.id));
}

result<void> attach_block(transaction& t, const agent& a, const block& b) {
  if (contains(a.block_ids, b.id)) return {};
  for (auto& other : blocks_of(t, a))
    if (other.label == b.label)
      return fail(errc::conflict,
                  "CONFLICT: agent " + a.id.str() + " has another block with the label '" + b.label + "'");
  auto changed = a;
  changed.block_ids.push_back(b.id);
  put_agent(t, changed, &a);
  share_with_companions(t, a, b);
  return {};
}

std::string agent_state(const reader& r, const agent& a, const agent_relations& include) {
  context_key context{a.id, std::nullopt};
  auto activity = activity_of(r, a.id);
  agent_view view{a, activity, context_ids(r, context), {}, {}, {}, "null", "null", include};
  if (include.blocks) view.blocks = blocks_of(r, a);
  if (include.tools) view.tools = tools_of(r, a);
  for (auto& id : a.identity_ids)
    if (auto i = include.identities ? find_identity(r, id) : std::nullopt)
      view.identities.push_back(std::move(*i));
  if (auto g = include.managed_group ? managed_group(r, a.id) : std::nullopt)
    view.managed_group = json::to_text(*g);
  if (include.pending_approval && !view.in_context.empty()) {
    auto last = find_message(r, view.in_context.back());
    std::vector<project::api_message> shown;
    if (last && is_approval_request(*last)) project::project(shown, *last, {});
    if (!shown.empty()) view.pending_approval = shown.back().body;
  }
  std::string out;
  write_agent_state(out, view);
  return out;
}

} // namespace troupe::storage
