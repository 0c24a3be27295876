// POST /messages/search and /agents/messages/search (reference: agent-loop §10.2)
#include "storage/message_search.hpp"

#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

namespace {

struct search_body {
  std::optional<std::string> query;
  storage::search_mode search_mode = storage::search_mode::hybrid;
  std::optional<std::vector<message_role>> roles;
  std::optional<std::string> agent_id, project_id, template_id, conversation_id;
  bounded<1, 100> limit{50};
  std::optional<timestamp> start_date, end_date;
};
BOOST_DESCRIBE_STRUCT(search_body, (),
                      (query, search_mode, roles, agent_id, project_id, template_id, conversation_id, limit,
                       start_date, end_date))

// The same for all messages: it demands a query and knows fewer filters.
struct search_all_body {
  std::string query;
  storage::search_mode search_mode = storage::search_mode::hybrid;
  std::optional<std::string> agent_id, conversation_id;
  bounded<1, 100> limit{50};
  std::optional<timestamp> start_date, end_date;

  static constexpr std::string_view required[] = {"query"};
};
BOOST_DESCRIBE_STRUCT(search_all_body, (),
                      (query, search_mode, agent_id, conversation_id, limit, start_date, end_date))

search_body of_all(search_all_body b) {
  search_body out;
  out.query = std::move(b.query);
  out.search_mode = b.search_mode;
  out.agent_id = std::move(b.agent_id);
  out.conversation_id = std::move(b.conversation_id);
  out.limit = b.limit;
  out.start_date = b.start_date;
  out.end_date = b.end_date;
  return out;
}

bool in_thread(const message& m, const std::optional<std::string>& thread) {
  if (!thread) return true;
  if (*thread == "default") return !m.conversation;
  return m.conversation && m.conversation->str() == *thread;
}

bool in_time(const message& m, const search_body& b) {
  return (!b.start_date || m.created_at >= *b.start_date) && (!b.end_date || m.created_at <= *b.end_date);
}

storage::message_query query_for(const storage::reader& r, const search_body& b) {
  storage::message_query q;
  q.text = b.query.value_or("");
  q.mode = b.search_mode;
  q.limit = static_cast<std::size_t>(b.limit.value);
  if (b.agent_id) q.agent = agent_id::parse(*b.agent_id).value_or(agent_id{}); // what is no id is nobody's
  q.wanted = [&r, b](const message& m) {
    if (b.roles && std::find(b.roles->begin(), b.roles->end(), m.role) == b.roles->end()) return false;
    if (!in_thread(m, b.conversation_id) || !in_time(m, b)) return false;
    if (!b.project_id && !b.template_id) return true;
    auto a = storage::find_agent(r, m.agent);
    return a && (!b.project_id || a->project_id == b.project_id) &&
           (!b.template_id || a->template_id == b.template_id);
  };
  return q;
}

// Brings the index near to the present, a step at a time, so that no single read or write is long.
awaitable<result<void>> advance_index(call& c) {
  constexpr int most_steps = 50;
  for (int i = 0; i < most_steps; ++i) {
    auto step = std::make_shared<std::optional<storage::index_step>>();
    std::function<result<std::string>(const storage::reader&)> make = [step, org = c.by.org](auto& r) {
      *step = storage::next_index_step(r, org);
      return result<std::string>(std::string{});
    };
    auto made = co_await read_on_worker(c, std::move(make));
    if (!made) co_return made.error();
    if (!*step) break;
    std::function<result<void>(storage::transaction&)> store = [step, org = c.by.org](auto& t) {
      return storage::store_index_step(t, org, **step);
    };
    auto stored = co_await commit(c, "search.index", std::move(store));
    if (!stored && stored.error().code != errc::conflict) co_return stored.error();
  }
  co_return result<void>{};
}

// -- answers --------------------------------------------------------------------------------------
// What a search over all messages shows: what was said and thought, piece by piece.
std::vector<project::api_message> shown(const message& m) {
  std::vector<project::api_message> out;
  project::project(out, m, {});
  std::erase_if(out, [](auto& part) {
    return part.type != message_type::system_message && part.type != message_type::user_message &&
           part.type != message_type::reasoning_message && part.type != message_type::assistant_message;
  });
  return out;
}

void write_shown(std::string& out, const message& m, const project::api_message& part) {
  auto body = json::try_parse(part.body).value_or(json::value{});
  std::string_view name = part.type == message_type::reasoning_message ? "reasoning" : "content";
  auto* text = json::find(body, name);
  json::object_writer w(out);
  w.add("message_type", part.type).add(name, text ? *text : json::value{});
  w.add("message_id", m.id).add("agent_id", m.agent);
  w.add("conversation_id", m.conversation).add("created_at", m.created_at);
}

std::string all_of(const std::vector<storage::message_hit>& hits) {
  std::string out = "[";
  for (auto& hit : hits)
    for (auto& part : shown(*hit.found)) {
      if (out.size() > 1) out.push_back(',');
      write_shown(out, *hit.found, part);
    }
  return out + "]";
}

std::string raw_of(const std::vector<storage::message_hit>& hits) {
  return json::list_text(hits, [](auto& out, auto& hit) {
    json::object_writer(out)
        .add("embedded_text", hit.text)
        .add("message", *hit.found)
        .add("fts_rank", hit.fts_rank)
        .add("vector_rank", hit.vector_rank)
        .add("rrf_score", hit.score);
  });
}

awaitable<outcome> search(call& c, search_body body, bool raw) {
  auto advanced = co_await advance_index(c);
  if (!advanced) co_return advanced.error();
  std::function<result<std::string>(const storage::reader&)> find = [body = std::move(body), raw,
                                                                     org = c.by.org](auto& r) {
    auto q = query_for(r, body);
    if (!raw) q.wanted = [wanted = q.wanted](const message& m) { return wanted(m) && !shown(m).empty(); };
    auto hits = storage::search_messages(r, org, q);
    return result<std::string>(raw ? raw_of(hits) : all_of(hits));
  };
  co_return co_await read_on_worker(c, std::move(find));
}

awaitable<outcome> search_all(call& c) {
  auto body = body_of<search_all_body>(c);
  if (!body) co_return body.error();
  co_return co_await search(c, of_all(std::move(*body)), false);
}

awaitable<outcome> search_raw(call& c) {
  auto body = body_of<search_body>(c);
  if (!body) co_return body.error();
  co_return co_await search(c, std::move(*body), true);
}

} // namespace

void add_message_search(router& r) {
  r.add("POST", "/messages/search", search_all);
  r.add("POST", "/agents/messages/search", search_raw);
}

} // namespace troupe::net::rest
