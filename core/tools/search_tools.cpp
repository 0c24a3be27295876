#include "core/tools/search_tools.hpp"

#include "core/base/text.hpp"
#include "core/search/ranking.hpp"
#include "core/search/words.hpp"

#include <algorithm>

namespace troupe::tools {

namespace {

// -- conversation_search --------------------------------------------------------------------------
outcome<std::optional<timestamp>> date_argument(const json::object& a, std::string_view name,
                                                const std::string& zone, bool is_end) {
  auto given = optional_argument(a, name);
  if (!given) return std::optional<timestamp>{};
  auto parts = parse_iso_parts(*given);
  if (!parts)
    return value_error("Invalid " + std::string(name) + " format: " + *given +
                       ". Use ISO 8601 format (YYYY-MM-DD or YYYY-MM-DDTHH:MM)");
  auto local = parts->local;
  if (parts->date_only && is_end) local.us += 86'400'000'000 - 1; // a day as an end is the end of that day
  if (parts->offset_s)
    return std::optional<timestamp>{timestamp{local.us - std::int64_t{*parts->offset_s} * 1'000'000}};
  return std::optional<timestamp>{from_local(local, zone)};
}

std::string ago(std::int64_t seconds) {
  if (seconds < 60) return std::to_string(seconds) + "s ago";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m ago";
  if (seconds < 86400) return std::to_string(seconds / 3600) + "h ago";
  return std::to_string(seconds / 86400) + "d ago";
}

// What a search result shows of a message: its text, or the arguments of the send_message call that it was.
std::optional<json::value> shown_content(const message& m) {
  if (m.role == message_role::assistant)
    for (auto& call : m.tool_calls)
      if (call.name == "send_message")
        if (auto args = json::try_parse(call.arguments); args && args->is_object()) {
          json::object out;
          auto thinking = text_of(m);
          if (!thinking.empty()) out["thinking"] = boost::json::string(thinking);
          if (auto* said = json::find(*args, "message")) out["content"] = *said;
          return json::value(std::move(out));
        }
  auto text = text_of(m);
  if (text.empty()) return std::nullopt;
  if (auto parsed = json::try_parse(text)) return parsed;
  return json::value(boost::json::string(text));
}

bool is_heartbeat(const message& m) {
  auto parsed = m.role == message_role::user ? json::try_parse(text_of(m)) : std::nullopt;
  return parsed && parsed->is_object() && json::string_or(*parsed, "type") == "heartbeat";
}

// Searches themselves, and what nobody said.
bool is_passed_over(const message& m) {
  if (m.role == message_role::tool || is_heartbeat(m) || !shown_content(m)) return true;
  return m.role == message_role::assistant &&
         std::any_of(m.tool_calls.begin(), m.tool_calls.end(),
                     [](auto& c) { return c.name == "conversation_search"; });
}

json::value search_result(const message& m, tool_context& c) {
  json::object out;
  out["timestamp"] = boost::json::string(format_iso_in(m.created_at, c.self.timezone));
  out["time_ago"] = boost::json::string(ago((c.env.now().us - m.created_at.us) / 1'000'000));
  auto role = json::enum_text(m.role);
  out["role"] = boost::json::string_view(role.data(), role.size());
  json::object relevance;
  relevance["search_mode"] = "sql";
  out["relevance"] = std::move(relevance);
  if (auto content = shown_content(m)) {
    if (content->is_object())
      for (auto& [key, member] : content->get_object()) out[key] = member;
    else
      out["content"] = std::move(*content);
  }
  return json::value(std::move(out));
}

} // namespace

outcome<json::value> conversation_search(const json::object& a, tool_context& c) {
  search_query q;
  q.text = optional_argument(a, "query");
  if (auto* roles = json::find(a, "roles"); roles && roles->is_array())
    for (auto& role : roles->get_array()) {
      auto word = json::python_str(role);
      auto known = json::enum_from<message_role>(word);
      if (!known) return value_error("'" + word + "' is not a valid MessageRole");
      q.roles.push_back(*known);
    }
  auto start = date_argument(a, "start_date", c.self.timezone, false);
  if (!start) return start.error();
  auto end = date_argument(a, "end_date", c.self.timezone, true);
  if (!end) return end.error();
  q.start = *start;
  q.end = *end;
  if (auto* limit = json::find(a, "limit"); limit && limit->is_number())
    q.limit = json::int_or(json::value(a), "limit", 5);
  auto found = c.search.history(q);
  json::array results;
  for (auto& m : found.messages)
    if (!is_passed_over(*m)) results.push_back(search_result(*m, c));
  json::object out;
  if (results.empty())
    out["message"] = "No results found.";
  else
    out["message"] = boost::json::string("Showing " + std::to_string(results.size()) + " results:");
  out["results"] = std::move(results);
  if (found.is_cut)
    out["note"] = boost::json::string(
        "Only the newest " + std::to_string(q.looks_at) +
        " messages up to end_date were searched. An earlier end_date searches older ones.");
  return json::value(std::move(out));
}

// -- search_memory --------------------------------------------------------------------------------
namespace {

constexpr std::size_t most_keywords = 8, most_saved = 5;
constexpr std::size_t most_of_a_keyword = 3;
constexpr std::size_t longest_query = 2000; // characters

using moment = std::optional<timestamp>;

moment minutes_ago(const json::object& a, std::string_view name, timestamp now) {
  constexpr std::int64_t a_millennium = 525'960'000; // in minutes
  auto* v = json::find(a, name);
  if (!v || !v->is_number()) return std::nullopt;
  auto minutes = std::clamp(json::int_or(json::value(a), name, 0), -a_millennium, a_millennium);
  return timestamp{now.us - minutes * 60'000'000};
}

std::vector<std::string> keywords_of(const json::object& a) {
  std::vector<std::string> out;
  auto add = [&](const json::value& v) {
    auto word = json::python_str(v);
    bool known = std::find(out.begin(), out.end(), word) != out.end();
    if (!word.empty() && !known && out.size() < most_keywords) out.push_back(std::move(word));
  };
  auto* given = json::find(a, "convo_keyword_queries");
  if (given && given->is_array())
    for (auto& v : given->get_array()) add(v);
  else if (given && !given->is_null())
    add(*given);
  return out;
}

// How much a word of a text says about a word of the query: the same, or one of its forms.
double weight_of(std::string_view asked, std::string_view word) {
  if (asked == word) return 1;
  auto stem = search::stem_of(asked);
  return !stem.empty() && word.starts_with(stem) ? search::likeness(asked, word) : 0;
}

// The nearest first; where no word is shared, the newest.
std::vector<const saved_text*> nearest(const std::vector<saved_text>& saved, const std::string& query) {
  auto asked = search::distinct_words_of(query);
  search::word_table table;
  for (std::size_t i = 0; i < saved.size(); ++i) table.add(saved.size() - i, search::words_of(saved[i].text));
  search::bm25 scores(table.all);
  for (auto& a : asked)
    for (auto& [word, in] : table.words)
      if (auto weight = weight_of(a, word); weight > 0) scores.add(in, weight);
  std::vector<const saved_text*> out;
  for (auto place : scores.ranked()) out.push_back(&saved[saved.size() - place]);
  for (auto& s : saved)
    if (std::find(out.begin(), out.end(), &s) == out.end()) out.push_back(&s);
  if (out.size() > most_saved) out.resize(most_saved);
  return out;
}

// What was said in it, without what it is packed into.
std::string words_said(const message& m) {
  auto shown = shown_content(m);
  if (!shown) return {};
  if (shown->is_object())
    for (auto member : {"content", "message"})
      if (auto* said = json::find(*shown, member); said && said->is_string()) return json::python_str(*said);
  return shown->is_string() ? json::python_str(*shown) : text_of(m);
}

bool is_a_search(const message& m) {
  return std::any_of(m.tool_calls.begin(), m.tool_calls.end(), [](auto& c) { return only_searches(c.name); });
}

json::array messages_with(const std::string& keyword, search_query q, tool_context& c, bool& is_cut) {
  q.text = keyword;
  auto found = c.search.history(q);
  is_cut |= found.is_cut;
  json::array out;
  for (auto& m : found.messages) {
    if (out.size() == most_of_a_keyword) break;
    if (is_a_search(*m) || is_heartbeat(*m)) continue;
    if (auto said = words_said(*m); !said.empty()) out.push_back(boost::json::string(said));
  }
  return out;
}

} // namespace

outcome<json::value> search_memory(const json::object& a, tool_context& c) {
  auto keywords = keywords_of(a);
  auto start = minutes_ago(a, "end_minutes_ago", c.env.now());
  auto end = minutes_ago(a, "start_minutes_ago", c.env.now());
  if (start && end && *start > *end) std::swap(start, end); // models mix them up
  json::object out;
  json::array saved;
  auto all = c.search.saved ? c.search.saved(start, end) : std::vector<saved_text>{};
  auto heard = c.search.heard ? c.search.heard() : std::string{};
  auto query = std::string(text::prefix(heard, longest_query)) + " " + text::join(keywords, " ");
  for (auto* s : nearest(all, query)) {
    auto time = format_iso_in(s->created_at, "UTC");
    time[time.find('T')] = ' ';
    json::object one;
    one["timestamp"] = boost::json::string(time);
    one["content"] = boost::json::string(s->text);
    saved.push_back(std::move(one));
  }
  out["archival_search_results"] = std::move(saved);
  if (keywords.empty()) return json::value(boost::json::string(json::print_packed(json::value(out))));
  search_query q;
  q.roles = {message_role::user, message_role::assistant};
  q.start = start;
  q.end = end;
  q.limit = 4 * most_of_a_keyword; // some are passed over
  q.looks_at /= keywords.size();
  json::object found;
  bool is_cut = false;
  for (auto& keyword : keywords)
    if (auto said = messages_with(keyword, q, c, is_cut); !said.empty()) found[keyword] = std::move(said);
  out["convo_keyword_search_results"] = std::move(found);
  if (is_cut)
    out["note"] = "Only the newest messages of that time were searched. A greater start_minutes_ago searches "
                  "older ones.";
  return json::value(boost::json::string(json::print_packed(json::value(out))));
}

} // namespace troupe::tools
