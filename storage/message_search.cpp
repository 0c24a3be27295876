#include "storage/message_search.hpp"

#include "core/search/message_text.hpp"
#include "core/search/words.hpp"

#include <algorithm>
#include <map>

namespace troupe::storage {

namespace {

using search::posting;
using postings = std::vector<posting>;

constexpr std::size_t step_size = 2'000;       // messages that one step adds
constexpr std::size_t readable_tail = 1'000;   // messages that are read as they are
constexpr std::size_t longest_tail = 20'000;   // where the index could not keep up: the newest of them
constexpr std::size_t most_relatives = 16;     // of one word
constexpr std::size_t most_neighbours = 4'000; // words that are looked at for them
constexpr double least_likeness = 0.35;
constexpr double rank_weight = 0.5; // of each ranking in a hybrid search

key words_prefix(const org_id& org) { return key(table::search_words).add(org); }
key sequence_key(const org_id& org, std::uint64_t n) { return key(table::messages_by_org).add(org).add(n); }

search_state state_of(const reader& r, const org_id& org) {
  return load<search_state>(r, key(table::search_state).add(org)).value_or(search_state{});
}

std::vector<std::string> words_to_find(const message& m) { return search::words_of(search::text_to_find(m)); }

// -- postings as bytes: distance to the one before, count, length ---------------------------------
std::string encode(const postings& list) {
  std::string out;
  std::uint64_t last = 0;
  for (auto& p : list) {
    codec::put_varint(out, p.place - last);
    codec::put_varint(out, p.count);
    codec::put_varint(out, p.length);
    last = p.place;
  }
  return out;
}

void decode(std::string_view bytes, postings& out) {
  codec::cursor c(bytes);
  posting p;
  std::uint64_t distance = 0;
  while (!c.empty() && c.varint(distance) && c.varint(p.count) && c.varint(p.length)) {
    p.place += distance;
    out.push_back(p);
  }
}

stored_message message_at(const reader& r, const agent_id& agent, std::uint64_t sequence) {
  return load_message(r, {agent, sequence});
}

bool too_much_gone(const search_state& s) { return s.gone > 1'000 && s.gone * 4 > s.messages; }

// Messages that the index lacks, up to a number that matters.
std::size_t lacking(const reader& r, const org_id& org, const search_state& s) {
  std::size_t n = 0;
  r.scan(sequence_key(org, s.indexed + 1), after_prefix(key(table::messages_by_org).add(org)),
         reader::direction::forward, [&](auto, auto) { return ++n <= readable_tail; });
  return n;
}

} // namespace

std::optional<index_step> next_index_step(const reader& r, const org_id& org) {
  index_step out;
  out.before = out.after = state_of(r, org);
  out.anew = too_much_gone(out.before);
  if (out.anew) out.after = {};
  if (!out.anew && lacking(r, org, out.before) <= readable_tail) return std::nullopt;
  search::word_table added;
  std::size_t seen = 0;
  auto first = out.after.indexed + 1;
  r.scan(sequence_key(org, first), after_prefix(key(table::messages_by_org).add(org)),
         reader::direction::forward, [&](std::string_view k, std::string_view agent) {
           out.after.indexed = number_at(k, k.size() - 8);
           if (auto m = message_at(r, agent_id::from_key(agent), out.after.indexed))
             added.add(out.after.indexed, words_to_find(*m));
           return ++seen < step_size;
         });
  out.after.messages += added.all.messages;
  out.after.words += added.all.words;
  for (auto& [word, list] : added.words)
    out.rows.emplace_back(words_prefix(org).text(word).add(first).str(), encode(list));
  return out;
}

result<void> store_index_step(transaction& t, const org_id& org, const index_step& step) {
  auto now = state_of(t, org);
  if (now.indexed != step.before.indexed || now.gone != step.before.gone)
    return fail(errc::conflict, "The index has moved on");
  if (step.anew) t.erase_prefix(words_prefix(org));
  for (auto& [k, bytes] : step.rows) t.put(k, bytes);
  save(t, key(table::search_state).add(org), step.after);
  return {};
}

void note_gone(transaction& t, const org_id& org, std::uint64_t messages) {
  auto state = state_of(t, org);
  if (state.indexed == 0) return;
  state.gone += messages;
  save(t, key(table::search_state).add(org), state);
}

// -- searching ------------------------------------------------------------------------------------
namespace {

// The index together with what it lacks.
class searcher {
public:
  searcher(const reader& r, const org_id& org) : r_(r), org_(org), state_(state_of(r, org)) { read_tail(); }

  std::vector<std::uint64_t> by_words(const std::vector<std::string>& words) const {
    search::bm25 scores(all());
    for (auto& w : words) scores.add(postings_of(w), 1);
    return scores.ranked();
  }

  // Relatives of the words count as much as they are like them.
  std::vector<std::uint64_t> by_likeness(const std::vector<std::string>& words) const {
    search::bm25 scores(all());
    for (auto& w : words)
      for (auto& [likeness, relative] : relatives_of(w)) scores.add(postings_of(relative), likeness);
    return scores.ranked();
  }

private:
  search::collection all() const {
    return {state_.messages + tail_.all.messages, state_.words + tail_.all.words};
  }

  void read_tail() {
    std::vector<std::pair<std::uint64_t, agent_id>> places;
    r_.scan(sequence_key(org_, state_.indexed + 1), after_prefix(key(table::messages_by_org).add(org_)),
            reader::direction::backward, [&](std::string_view k, std::string_view agent) {
              places.emplace_back(number_at(k, k.size() - 8), agent_id::from_key(agent));
              return places.size() < longest_tail;
            });
    for (auto it = places.rbegin(); it != places.rend(); ++it)
      if (auto m = message_at(r_, it->second, it->first)) tail_.add(it->first, words_to_find(*m));
  }

  postings postings_of(const std::string& word) const {
    postings out;
    r_.scan_prefix(words_prefix(org_).text(word), reader::direction::forward,
                   [&](auto, std::string_view bytes) { return decode(bytes, out), true; });
    if (auto it = tail_.words.find(word); it != tail_.words.end())
      out.insert(out.end(), it->second.begin(), it->second.end());
    return out;
  }

  // The word itself and those that begin alike, the most like ones.
  std::vector<std::pair<double, std::string>> relatives_of(const std::string& word) const {
    std::vector<std::pair<double, std::string>> out{{1.0, word}};
    auto stem = search::stem_of(word);
    if (stem.empty()) return out;
    std::string last;
    std::size_t seen = 0;
    auto consider = [&](std::string_view other) {
      if (other == last || other == word) return true;
      last = other;
      if (auto l = search::likeness(word, other); l >= least_likeness) out.emplace_back(l, other);
      return ++seen < most_neighbours;
    };
    auto prefix = words_prefix(org_);
    r_.scan_prefix(words_prefix(org_).text_prefix(stem), reader::direction::forward,
                   [&](std::string_view k, auto) {
                     auto rest = k.substr(prefix.str().size());
                     return consider(rest.substr(0, rest.find('\0')));
                   });
    for (auto it = tail_.words.lower_bound(stem); it != tail_.words.end() && it->first.starts_with(stem);
         ++it)
      consider(it->first);
    std::sort(out.begin(), out.end(), std::greater<>());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.size() > most_relatives) out.resize(most_relatives);
    return out;
  }

  const reader& r_;
  const org_id& org_;
  search_state state_;
  search::word_table tail_;
};

bool fits(const message& m, const message_query& q) {
  return (!q.agent || m.agent == *q.agent) && (!q.wanted || q.wanted(m));
}

// The best of a ranking that are still there and wanted.
std::vector<std::uint64_t> keep_wanted(const reader& r, const org_id& org, const message_query& q,
                                       const std::vector<std::uint64_t>& ranked,
                                       std::map<std::uint64_t, stored_message>& found) {
  std::vector<std::uint64_t> out;
  for (auto place : ranked) {
    if (out.size() == q.limit) break;
    auto agent = r.get(sequence_key(org, place));
    if (!agent || (q.agent && agent_id::from_key(*agent) != *q.agent)) continue;
    auto m = message_at(r, agent_id::from_key(*agent), place);
    if (!m || !fits(*m, q)) continue;
    out.push_back(place);
    found[place] = std::move(m);
  }
  return out;
}

std::vector<message_hit> newest(const reader& r, const org_id& org, const message_query& q) {
  std::vector<message_hit> out;
  r.scan_prefix(key(table::messages_by_org).add(org), reader::direction::backward,
                [&](std::string_view k, std::string_view agent) {
                  if (q.agent && agent_id::from_key(agent) != *q.agent) return true;
                  auto m = message_at(r, agent_id::from_key(agent), number_at(k, k.size() - 8));
                  auto text = m && fits(*m, q) ? search::text_to_find(*m) : std::string{};
                  if (!text.empty()) out.push_back({std::move(m), std::move(text), {}, {}, 0});
                  return out.size() < q.limit;
                });
  return out;
}

} // namespace

std::vector<message_hit> search_messages(const reader& r, const org_id& org, const message_query& q) {
  auto words = search::distinct_words_of(q.text);
  if (words.empty()) return newest(r, org, q);
  searcher s(r, org);
  std::map<std::uint64_t, stored_message> found;
  std::vector<std::uint64_t> exact, like;
  if (q.mode != search_mode::vector) exact = keep_wanted(r, org, q, s.by_words(words), found);
  if (q.mode != search_mode::fts) like = keep_wanted(r, org, q, s.by_likeness(words), found);
  double weight = q.mode == search_mode::hybrid ? rank_weight : 1;
  std::vector<message_hit> out;
  for (auto& f : search::fuse(exact, like, weight, weight)) {
    if (out.size() == q.limit) break;
    auto& m = found[f.place];
    out.push_back({m, search::text_to_find(*m), f.first_rank, f.second_rank, f.score});
  }
  return out;
}

} // namespace troupe::storage
