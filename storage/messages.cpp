#include "storage/messages.hpp"

#include "storage/message_search.hpp"

#include <algorithm>
#include <utility>

namespace troupe::storage {

namespace {

key message_key(const agent_id& agent, std::uint64_t sequence) {
  return key(table::messages).add(agent).add(sequence);
}
key context_prefix(const context_key& c) { return key(table::contexts).add(c.owner()); }
std::string place_bytes(const agent_id& agent, std::uint64_t sequence) {
  return std::string(agent.key()) + big_endian(sequence);
}

context_entry decode_entry(std::string_view k, std::string_view v) {
  return {number_at(k, k.size() - 8), message_id{uuid::from_bytes(v.substr(0, 16))}, number_at(v, 16)};
}

// Of messages that say which group they belong to.
std::optional<key> group_key(const message& m, std::uint64_t sequence) {
  auto g = m.group ? group_id::parse(*m.group) : std::nullopt;
  if (!g) return std::nullopt;
  return key(table::group_messages).add(*g).add(sequence);
}

std::string entry_value(const message_id& id, std::uint64_t sequence) {
  return std::string(id.key()) + big_endian(sequence);
}

bool wanted(const message& m, const history_query& q) {
  if (q.group && m.group != q.group) return false;
  if (q.default_thread && m.conversation) return false;
  return !q.conversation || m.conversation == q.conversation;
}

} // namespace

stored_message decode_message(std::string_view bytes) {
  auto m = codec::decode<message>(bytes);
  if (!m) throw std::runtime_error("damaged message record");
  return std::make_shared<const message>(std::move(*m));
}

std::optional<message_place> find_message_place(const reader& r, const message_id& id) {
  auto v = r.get(key(table::message_ids).add(id));
  if (!v || v->size() != 24) return std::nullopt;
  return message_place{agent_id::from_key(v->substr(0, 16)), number_at(*v, 16)};
}

stored_message load_message(const reader& r, const message_place& at) {
  auto bytes = r.get(message_key(at.agent, at.sequence));
  return bytes ? decode_message(*bytes) : nullptr;
}

stored_message find_message(const reader& r, const message_id& id) {
  auto at = find_message_place(r, id);
  return at ? load_message(r, *at) : nullptr;
}

std::vector<context_entry> context_entries(const reader& r, const context_key& c) {
  std::vector<context_entry> out;
  r.scan_prefix(context_prefix(c), reader::direction::forward,
                [&](auto k, auto v) { return out.push_back(decode_entry(k, v)), true; });
  return out;
}

std::vector<message_id> context_ids(const reader& r, const context_key& c) {
  std::vector<message_id> out;
  r.scan_prefix(context_prefix(c), reader::direction::forward,
                [&](auto, auto v) { return out.push_back(message_id::from_key(v.substr(0, 16))), true; });
  return out;
}

std::vector<stored_message> context_messages(const reader& r, const context_key& c) {
  std::vector<stored_message> out;
  for (auto& e : context_entries(r, c))
    if (auto m = load_message(r, {c.agent, e.sequence})) out.push_back(std::move(m));
  return out;
}

stored_message last_of_context(const reader& r, const context_key& c) {
  stored_message out;
  r.scan_prefix(context_prefix(c), reader::direction::backward, [&](auto, auto v) {
    out = load_message(r, {c.agent, number_at(v, 16)});
    return !out;
  });
  return out;
}

namespace {

// The position behind the last entry below a prefix.
std::uint64_t next_position(const reader& r, const key& prefix) {
  std::uint64_t next = 0;
  r.scan_prefix(prefix, reader::direction::backward,
                [&](auto k, auto) { return next = number_at(k, k.size() - 8) + 1, false; });
  return next;
}

void link(transaction& t, const key& prefix, std::uint64_t position, std::string_view value) {
  t.put(key(prefix).add(position), value);
}

} // namespace

std::uint64_t append_messages(transaction& t, const std::vector<stored_message>& messages,
                              const context_key* context) {
  std::uint64_t first = 0, position = 0, thread_position = 0;
  auto thread = key(table::conversation_messages);
  if (context) {
    position = next_position(t, context_prefix(*context));
    if (context->conversation) thread_position = next_position(t, thread.add(*context->conversation));
  }
  for (auto& m : messages) {
    auto sequence = t.next_sequence();
    if (!first) first = sequence;
    t.put(message_key(m->agent, sequence), codec::encode(*m));
    t.put(key(table::message_ids).add(m->id), place_bytes(m->agent, sequence));
    t.put(key(table::messages_by_org).add(m->organization_id).add(sequence), m->agent.key());
    if (auto k = group_key(*m, sequence)) t.put(*k, m->agent.key());
    if (!context) continue;
    link(t, context_prefix(*context), position++, entry_value(m->id, sequence));
    if (context->conversation) link(t, thread, thread_position++, place_bytes(m->agent, sequence));
  }
  return first;
}

void rewrite_message(transaction& t, const message_place& at, const message& m) {
  t.put(message_key(at.agent, at.sequence), codec::encode(m));
}

void replace_context(transaction& t, const context_key& c, const std::vector<context_entry>& entries) {
  auto prefix = context_prefix(c);
  t.erase_prefix(prefix);
  std::uint64_t position = 0;
  for (auto& e : entries) link(t, prefix, position++, entry_value(e.id, e.sequence));
}

void share_context(transaction& t, const context_key& from, const context_key& to) {
  auto position = next_position(t, context_prefix(to));
  auto thread = key(table::conversation_messages);
  if (to.conversation) thread.add(*to.conversation);
  auto thread_position = next_position(t, thread);
  bool first = true; // the place of the system message
  for (auto& e : context_entries(t, from)) {
    if (std::exchange(first, false)) continue;
    link(t, context_prefix(to), position++, entry_value(e.id, e.sequence));
    if (to.conversation) link(t, thread, thread_position++, place_bytes(from.agent, e.sequence));
  }
}

void clear_context(transaction& t, const context_key& c) {
  auto entries = context_entries(t, c);
  for (std::size_t i = 1; i < entries.size(); ++i) t.erase(context_prefix(c).add(entries[i].position));
}

std::vector<stored_message> history(const reader& r, const agent_id& agent, const history_query& q) {
  std::vector<stored_message> out;
  if (q.limit == 0) return out;
  auto from = message_key(agent, q.after ? *q.after + 1 : 0);
  auto to = q.before ? message_key(agent, *q.before).str() : after_prefix(key(table::messages).add(agent));
  r.scan(from, to, q.newest_first ? reader::direction::backward : reader::direction::forward,
         [&](auto, std::string_view bytes) {
           auto m = decode_message(bytes);
           if (wanted(*m, q)) out.push_back(std::move(m));
           return out.size() < q.limit;
         });
  if (q.newest_first) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<stored_message> org_history(const reader& r, const org_id& org, const history_query& q) {
  std::vector<stored_message> out;
  if (q.limit == 0) return out;
  auto prefix = key(table::messages_by_org).add(org);
  auto from = key(prefix).add(q.after ? *q.after + 1 : 0);
  auto to = q.before ? key(prefix).add(*q.before).str() : after_prefix(prefix);
  r.scan(from, to, q.newest_first ? reader::direction::backward : reader::direction::forward,
         [&](std::string_view k, std::string_view v) {
           auto m = load_message(r, {agent_id::from_key(v), number_at(k, k.size() - 8)});
           if (m && wanted(*m, q)) out.push_back(std::move(m));
           return out.size() < q.limit;
         });
  if (q.newest_first) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<stored_message> messages_of_run(const reader& r, const agent_id& agent, const run_id& run,
                                            std::uint64_t first, std::uint64_t last) {
  std::vector<stored_message> out;
  if (first == 0) return out;
  r.scan(message_key(agent, first), message_key(agent, last + 1), reader::direction::forward,
         [&](auto, std::string_view bytes) {
           auto m = decode_message(bytes);
           if (m->run == run) out.push_back(std::move(m));
           return true;
         });
  return out;
}

namespace {

void erase_row(transaction& t, const message& m, std::uint64_t sequence) {
  t.erase(key(table::message_ids).add(m.id));
  t.erase(key(table::messages_by_org).add(m.organization_id).add(sequence));
  if (auto k = group_key(m, sequence)) t.erase(*k);
  t.erase(message_key(m.agent, sequence));
}

// The keys below a prefix whose values end in one of these sequences.
std::vector<std::string> links_to(const reader& r, const key& prefix,
                                  const std::vector<message_place>& messages) {
  std::vector<std::string> out;
  r.scan_prefix(prefix, reader::direction::forward, [&](std::string_view k, std::string_view v) {
    auto sequence = number_at(v, 16);
    if (std::any_of(messages.begin(), messages.end(), [&](auto& m) { return m.sequence == sequence; }))
      out.emplace_back(k);
    return true;
  });
  return out;
}

} // namespace

bool holds_any(const reader& r, const context_key& c, const std::vector<message_place>& messages) {
  return !links_to(r, context_prefix(c), messages).empty();
}

void unlink_messages(transaction& t, const context_key& c, const std::vector<message_place>& messages) {
  for (auto& k : links_to(t, context_prefix(c), messages)) t.erase(k);
  if (!c.conversation) return;
  for (auto& k : links_to(t, key(table::conversation_messages).add(*c.conversation), messages)) t.erase(k);
}

void erase_messages(transaction& t, const std::vector<message_place>& messages) {
  for (auto& at : messages) {
    auto m = load_message(t, at);
    if (!m) continue;
    erase_row(t, *m, at.sequence);
    note_gone(t, m->organization_id, 1);
  }
}

void erase_history(transaction& t, const agent_id& agent, const org_id& org) {
  std::vector<std::pair<std::uint64_t, stored_message>> all;
  t.scan_prefix(key(table::messages).add(agent), reader::direction::forward,
                [&](std::string_view k, std::string_view bytes) {
                  all.emplace_back(number_at(k, k.size() - 8), decode_message(bytes));
                  return true;
                });
  for (auto& [sequence, m] : all) erase_row(t, *m, sequence);
  note_gone(t, org, all.size());
  t.erase_prefix(context_prefix({agent, std::nullopt}));
}

} // namespace troupe::storage
