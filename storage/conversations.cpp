#include "storage/conversations.hpp"

#include "storage/blocks.hpp"
#include "storage/sleeptime.hpp"

#include <algorithm>
#include <set>

namespace troupe::storage {

std::optional<conversation> find_conversation(const reader& r, const conversation_id& id) {
  return load<conversation>(r, key(table::conversations).add(id));
}

std::optional<conversation> find_conversation(const reader& r, const conversation_id& id, const org_id& org) {
  auto c = find_conversation(r, id);
  return c && c->organization_id == org ? c : std::nullopt;
}

void put_conversation(transaction& t, const conversation& c) {
  save(t, key(table::conversations).add(c.id), c);
}

void create_conversation(transaction& t, const conversation& c, const stored_message& system) {
  put_conversation(t, c);
  t.put(key(table::conversations_by_agent).add(c.agent).add(c.created_at).add(c.id), {});
  t.put(key(table::conversations_by_org).add(c.organization_id).add(c.created_at).add(c.id), {});
  context_key context{c.agent, c.id};
  append_messages(t, {system}, &context);
}

namespace {

using places = std::set<std::uint64_t>;

places linked(const reader& r, const conversation_id& id) {
  places out;
  r.scan_prefix(key(table::conversation_messages).add(id), reader::direction::forward,
                [&](auto, std::string_view v) { return out.insert(number_at(v, 16)), true; });
  return out;
}

// Messages that no other thread of the agent shows.
void erase_own_messages(transaction& t, const conversation& c) {
  auto own = linked(t, c.id);
  for (auto& other : conversations_of(t, c.agent)) {
    if (other == c.id) continue;
    for (auto sequence : linked(t, other)) own.erase(sequence);
  }
  std::vector<message_place> gone;
  for (auto sequence : own) {
    auto m = load_message(t, {c.agent, sequence});
    if (m && m->conversation)
      gone.push_back({c.agent, sequence}); // the agent's own thread keeps its messages
  }
  erase_messages(t, gone);
}

} // namespace

void erase_conversation(transaction& t, const conversation& c) {
  system_environment env;
  forget_thread(t, c.agent, c.id, env);
  erase_own_messages(t, c);
  t.erase_prefix(key(table::contexts).add(c.id));
  t.erase_prefix(key(table::conversation_messages).add(c.id));
  for (auto& id : c.isolated_block_ids) {
    auto b = find_block(t, id);
    if (b) erase_block(t, *b, env);
  }
  t.erase(key(table::conversations_by_agent).add(c.agent).add(c.created_at).add(c.id));
  t.erase(key(table::conversations_by_org).add(c.organization_id).add(c.created_at).add(c.id));
  t.erase(key(table::conversations).add(c.id));
}

std::vector<conversation_id> conversations_of(const reader& r, const agent_id& agent) {
  std::vector<conversation_id> out;
  r.scan_prefix(key(table::conversations_by_agent).add(agent), reader::direction::forward,
                [&](auto k, auto) { return out.emplace_back(last_uuid(k)), true; });
  return out;
}

void erase_conversations(transaction& t, const agent_id& agent) {
  for (auto& id : conversations_of(t, agent))
    if (auto c = find_conversation(t, id)) erase_conversation(t, *c);
}

std::vector<stored_message> thread(const reader& r, const conversation_id& id, const thread_query& q) {
  std::vector<stored_message> all;
  r.scan_prefix(key(table::conversation_messages).add(id), reader::direction::forward,
                [&](auto, std::string_view v) {
                  if (auto m = load_message(r, {agent_id::from_key(v.substr(0, 16)), number_at(v, 16)}))
                    all.push_back(std::move(m));
                  return true;
                });
  auto at = [&](const std::optional<message_id>& cursor) {
    return std::find_if(all.begin(), all.end(), [&](auto& m) { return cursor && m->id == *cursor; });
  };
  if (auto it = at(q.before); it != all.end()) all.erase(it, all.end());
  if (auto it = at(q.after); it != all.end()) all.erase(all.begin(), it + 1);
  if (q.newest_first) std::reverse(all.begin(), all.end());
  if (all.size() > q.limit) all.resize(q.limit);
  return all;
}

std::vector<conversation> list_conversations(const reader& r, const org_id& org,
                                             const conversation_query& q) {
  std::vector<conversation> out;
  page p{.limit = q.limit, .order = q.order, .after = {}, .before = {}};
  if (auto c = q.after ? find_conversation(r, *q.after) : std::nullopt)
    p.after = place(c->created_at, c->id.value);
  auto index =
      q.agent ? key(table::conversations_by_agent).add(*q.agent) : key(table::conversations_by_org).add(org);
  list(r, index, p, [&](const uuid& id) {
    auto c = find_conversation(r, conversation_id{id}, org);
    if (!c || (q.summary && c->summary.value_or("").find(*q.summary) == std::string::npos)) return false;
    out.push_back(std::move(*c));
    return true;
  });
  return out;
}

} // namespace troupe::storage
