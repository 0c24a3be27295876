#include "storage/tool_searches.hpp"

#include "core/base/text.hpp"
#include "core/search/message_text.hpp"
#include "storage/voice_memories.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

constexpr std::size_t most_saved = 1000;
// Times rise with the sequence, but for turns of an agent that ran side by side.
constexpr std::int64_t side_by_side_us = 3'600'000'000;

key messages_of(const agent_id& agent) { return key(table::messages).add(agent); }

// The end of what may be of that time, found without reading what is newer.
std::string end_of(const reader& r, const agent_id& agent, timestamp time) {
  auto all = messages_of(agent);
  std::uint64_t low = 0, high = 0; // messages before `low` are of that time, those from `high` on are not
  r.scan_prefix(all, reader::direction::backward,
                [&](auto k, auto) { return high = number_at(k, k.size() - 8) + 1, false; });
  while (low < high) {
    auto middle = low + (high - low) / 2, next = high;
    bool newer = true;
    r.scan(messages_of(agent).add(middle), messages_of(agent).add(high), reader::direction::forward,
           [&](auto k, auto bytes) {
             newer = decode_message(bytes)->created_at.us > time.us + side_by_side_us;
             next = number_at(k, k.size() - 8) + 1;
             return false;
           });
    (newer ? high : low) = newer ? middle : next;
  }
  return messages_of(agent).add(high).str();
}

bool holds(const message& m, const std::string& words) {
  if (words.empty() || text::contains_ignoring_case(text_of(m), words)) return true;
  return std::any_of(m.tool_calls.begin(), m.tool_calls.end(), [&](auto& c) {
    return c.name == "send_message" && text::contains_ignoring_case(c.arguments, words);
  });
}

bool is_wanted(const message& m, const tools::search_query& q) {
  bool role = q.roles.empty() || std::find(q.roles.begin(), q.roles.end(), m.role) != q.roles.end();
  return role && m.role != message_role::system && (!q.end || m.created_at <= *q.end) &&
         holds(m, q.text.value_or(""));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    default: out.push_back(c);
    }
  return out;
}

// As it would lie in an archive.
std::string passage_of(const sleeptime::memory& m) {
  std::string out = "<memory><messages>";
  for (auto& line : text::split(m.lines, '\n')) out += "<message>" + escaped(line) + "</message>";
  return out + "</messages><context>" + escaped(m.context) + "</context></memory>";
}

std::vector<tools::saved_text> saved_memories(const reader& r, const agent_id& agent,
                                              std::optional<timestamp> start, std::optional<timestamp> end) {
  auto all = key(table::voice_memories).add(agent);
  auto from = start ? key(all).add(std::max(*start, timestamp{})) : all;
  auto to = end ? key(all).add(std::max(timestamp{end->us + 1}, timestamp{})).str() : after_prefix(all);
  std::vector<tools::saved_text> out;
  r.scan(from, to, reader::direction::backward, [&](auto k, auto) {
    if (auto m = load<voice_memory>(r, k)) out.push_back({m->created_at, passage_of(m->what)});
    return out.size() < most_saved;
  });
  return out;
}

std::string heard_last(const reader& r, const agent_id& agent, const std::vector<input_message>* asked) {
  if (asked)
    for (auto it = asked->rbegin(); it != asked->rend(); ++it)
      if (auto* said = std::get_if<message_create>(&*it); said && said->role == message_role::user) {
        message m;
        m.content = said->content;
        return text_of(m);
      }
  tools::search_query q;
  q.roles = {message_role::user};
  q.limit = 1;
  auto newest = search_history(r, agent, q).messages;
  return newest.empty() ? std::string{} : search::text_to_find(*newest.front());
}

} // namespace

tools::search_found search_history(const reader& r, const agent_id& agent, const tools::search_query& q) {
  tools::search_found out({});
  if (q.limit <= 0) return out;
  auto all = messages_of(agent);
  auto to = q.end ? end_of(r, agent, *q.end) : after_prefix(all);
  std::size_t looked_at = 0;
  r.scan(all, to, reader::direction::backward, [&](auto, std::string_view bytes) {
    if (looked_at++ == q.looks_at) return out.is_cut = true, false;
    auto m = decode_message(bytes);
    if (q.start && m->created_at < *q.start) return false; // older and older from here on
    if (is_wanted(*m, q)) out.messages.push_back(std::move(m));
    return out.messages.size() < static_cast<std::size_t>(q.limit);
  });
  return out;
}

tools::searches searches_of(const reader& r, const agent_id& agent, const std::vector<input_message>* asked) {
  return {[&r, agent](auto& q) { return search_history(r, agent, q); },
          [&r, agent](auto start, auto end) { return saved_memories(r, agent, start, end); },
          [&r, agent, asked] { return heard_last(r, agent, asked); }};
}

} // namespace troupe::storage
