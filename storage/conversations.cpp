#include "storage/conversations.hpp"

#include "storage/blocks.hpp"
#include "storage/runs.hpp"
#include "storage/sleeptime.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe::storage {

std::optional<conversation> find_conversation(const reader& r, const conversation_id& id) {
  return load<conversation>(r, key(table::conversations).add(id));
}

std::optional<conversation> find_conversation(const reader& r, const conversation_id& id, const org_id& org) {
  return of_org(find_conversation(r, id), org);
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
  if (q.group) std::erase_if(all, [&](auto& m) { return m->group != q.group; });
  if (q.newest_first) std::reverse(all.begin(), all.end());
  if (all.size() > q.limit) all.resize(q.limit);
  return all;
}

namespace {

bool wanted(const conversation& c, const conversation_query& q) {
  return !q.summary || c.summary.value_or("").find(*q.summary) != std::string::npos;
}

key listed_in(const org_id& org, const conversation_query& q) {
  return q.agent ? key(table::conversations_by_agent).add(*q.agent)
                 : key(table::conversations_by_org).add(org);
}

using run_ends = std::map<conversation_id, std::int64_t>;

// When the last run of each conversation ended.
run_ends last_run_ends(const reader& r, const org_id& org, const std::optional<agent_id>& agent) {
  run_ends out;
  auto runs = agent ? key(table::runs_by_agent).add(*agent) : key(table::runs_by_org).add(org);
  r.scan_prefix(runs, reader::direction::forward, [&](std::string_view k, auto) {
    auto row = find_run(r, run_id{last_uuid(k)});
    if (!row || !row->conversation || !row->completed_at) return true;
    auto& last = out[*row->conversation];
    last = std::max(last, row->completed_at->us);
    return true;
  });
  return out;
}

// A conversation and the time that it is listed by.
struct timed {
  std::optional<std::int64_t> at;
  conversation row;
};

// What has no time is last whichever way the times go; among equals the ids go that way too.
bool comes_before(const timed& a, const timed& b, sort_order order) {
  if (a.at.has_value() != b.at.has_value()) return a.at.has_value();
  auto x = std::pair(a.at, a.row.id), y = std::pair(b.at, b.row.id);
  return order == sort_order::asc ? x < y : y < x;
}

std::vector<conversation> list_by_time(const reader& r, const org_id& org, const conversation_query& q) {
  bool by_runs = q.by == conversation_order::last_run_completion;
  auto ends = by_runs ? last_run_ends(r, org, q.agent) : run_ends{};
  auto time_of = [&](conversation c) {
    timed out{std::nullopt, std::move(c)};
    if (auto it = ends.find(out.row.id); it != ends.end()) out.at = it->second;
    if (!by_runs && out.row.last_message_at) out.at = out.row.last_message_at->us;
    return out;
  };
  std::optional<timed> cursor;
  if (auto c = q.after ? find_conversation(r, *q.after, org) : std::nullopt) cursor = time_of(std::move(*c));
  std::vector<timed> all;
  r.scan_prefix(listed_in(org, q), reader::direction::forward, [&](std::string_view k, auto) {
    auto c = find_conversation(r, conversation_id{last_uuid(k)}, org);
    if (!c || !wanted(*c, q)) return true;
    auto item = time_of(std::move(*c));
    if (!cursor || comes_before(*cursor, item, q.order)) all.push_back(std::move(item));
    return true;
  });
  std::sort(all.begin(), all.end(), [&](auto& a, auto& b) { return comes_before(a, b, q.order); });
  if (all.size() > q.limit) all.erase(all.begin() + static_cast<std::ptrdiff_t>(q.limit), all.end());
  std::vector<conversation> out;
  out.reserve(all.size());
  for (auto& item : all) out.push_back(std::move(item.row));
  return out;
}

} // namespace

std::vector<conversation> list_conversations(const reader& r, const org_id& org,
                                             const conversation_query& q) {
  if (q.by != conversation_order::created_at) return list_by_time(r, org, q);
  std::vector<conversation> out;
  page p{.limit = q.limit, .order = q.order, .after = {}, .before = {}};
  if (auto c = q.after ? find_conversation(r, *q.after) : std::nullopt)
    p.after = place(c->created_at, c->id.value);
  list(r, listed_in(org, q), p, [&](const uuid& id) {
    auto c = find_conversation(r, conversation_id{id}, org);
    if (!c || !wanted(*c, q)) return false;
    out.push_back(std::move(*c));
    return true;
  });
  return out;
}

} // namespace troupe::storage
