// /agents: create, retrieve, list, count, modify, delete (reference: resources §2.1–2.13)
#include "core/agents/update.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/blocks.hpp"
#include "storage/companions.hpp"
#include "storage/groups.hpp"
#include "storage/identities.hpp"
#include "storage/organizations.hpp"
#include "storage/sleeptime.hpp"
#include "storage/tools.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

// -- create ---------------------------------------------------------------------------------------
error unknown_tools(std::string_view how, const std::vector<std::string>& missing) {
  std::string list;
  for (auto& m : missing)
    list.append(list.empty() ? "" : ", ").append(json::python_repr(std::string_view{m}));
  return fail(errc::invalid_argument, "Tools not found by " + std::string(how) + "{" + list + "}");
}

// The tools of a request, by name and by id, each once.
result<std::vector<tool>> find_tools(const storage::reader& r, const create_agent& request, const actor& by) {
  std::vector<tool> out;
  std::vector<std::string> missing;
  auto add = [&](tool t) {
    if (std::none_of(out.begin(), out.end(), [&](auto& o) { return o.id == t.id; }))
      out.push_back(std::move(t));
  };
  for (auto& name : agents::wanted_tool_names(request)) {
    if (auto t = storage::find_tool_by_name(r, by.org, name))
      add(std::move(*t));
    else
      missing.push_back(name);
  }
  if (!missing.empty()) return unknown_tools("name: ", missing);
  for (auto& id : request.tool_ids.value_or(std::vector<tool_id>{})) {
    if (auto t = storage::find_tool(r, id, by.org))
      add(std::move(*t));
    else
      missing.push_back(id.str());
  }
  if (!missing.empty()) return unknown_tools("id:   ", missing);
  return out;
}

awaitable<result<agents::resolved_models>> resolve_models(call& c, const create_agent& request) {
  agents::resolved_models out;
  auto handle = request.model.value_or(c.s.options.default_model);
  if (request.llm_config_) {
    out.llm = *request.llm_config_;
  } else if (handle.empty() && !request.model) {
    co_return invalid_argument("Must specify either model or llm_config in request");
  } else {
    auto found = co_await c.s.models->resolve(handle);
    if (!found) co_return found.error();
    out.llm = std::move(*found);
  }
  bool wants_embedding = request.embedding || !c.s.options.default_embedding.empty();
  auto embedding = request.embedding ? request.embedding->value : c.s.options.default_embedding;
  if (request.embedding_config_) {
    out.embedding = request.embedding_config_;
  } else if (wants_embedding) {
    auto found = co_await c.s.models->resolve_embedding(embedding);
    if (!found) co_return found.error();
    out.embedding = std::move(*found);
    if (request.embedding_chunk_size) out.embedding->embedding_chunk_size = request.embedding_chunk_size;
  }
  co_return out;
}

awaitable<outcome> create(call& c) {
  auto body = body_of<create_agent>(c);
  if (!body) co_return body.error();
  if (auto wrong = agents::check(*body)) co_return *wrong;
  auto models = co_await resolve_models(c, *body);
  if (!models) co_return models.error();
  auto request = std::make_shared<const create_agent>(std::move(*body));
  auto llm = agents::configure(*request, *models);
  auto store = [request, llm, embedding = models->embedding, by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto tools = find_tools(t, *request, by);
    if (!tools) return tools.error();
    for (auto& id : request->identity_ids.value_or(std::vector<identity_id>{}))
      if (!storage::find_identity(t, id, by.org)) return storage::not_found_for("Identity", id.str(), by);
    std::vector<block> attached;
    for (auto& id : request->block_ids.value_or(std::vector<block_id>{}))
      if (auto b = storage::find_block(t, id, by.org)) attached.push_back(std::move(*b));
    auto made = agents::make_agent(*request, llm, embedding, *tools, attached, by, request->project_id, *env);
    if (!made) return made.error();
    // The answer shows the rules as they were asked for; what is stored has each once.
    auto shown = made->record;
    made->record.tool_rules = deduplicated(made->record.tool_rules);
    storage::create_agent(t, *made);
    if (request->enable_sleeptime.value_or(false))
      if (auto done = storage::create_companion(t, made->record, by, *env); !done) return done.error();
    return storage::agent_state(t, shown, agent_relations::all());
  };
  co_return co_await write(c, "agent.create", std::move(store));
}

// -- read -----------------------------------------------------------------------------------------
awaitable<outcome> retrieve(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<include_parameters>(c);
  if (!p) co_return p.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, *id, c.by.org);
    if (!a) return no_agent(*id);
    return storage::agent_state(r, *a, relations(c, *p));
  });
}

struct agent_page {
  std::optional<std::string> before, after;
  item_limit limit{50};
  sort_order order = sort_order::desc;
  storage::agent_order order_by = storage::agent_order::created_at;
};
BOOST_DESCRIBE_STRUCT(agent_page, (), (before, after, limit, order, order_by))

awaitable<outcome> list(call& c) {
  auto page = query_of<agent_page>(c);
  if (!page) co_return page.error();
  auto filter = query_of<agent_filter_parameters>(c);
  if (!filter) co_return filter.error();
  auto include = query_of<include_parameters>(c);
  if (!include) co_return include.error();
  auto q = agent_query_of(*filter);
  q.limit = items(page->limit);
  q.order = page->order;
  q.by = page->order_by;
  q.before = agent_id::parse(page->before.value_or(""));
  q.after = agent_id::parse(page->after.value_or(""));
  auto list = [q, org = c.by.org,
               shown = relations(c, *include)](const storage::reader& r) -> result<std::string> {
    return agent_states(r, storage::list_agents(r, org, q), shown);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> count(call& c) {
  auto filter = query_of<agent_filter_parameters>(c);
  if (!filter) co_return filter.error();
  auto q = agent_query_of(*filter);
  auto number = [q, org = c.by.org](const storage::reader& r) -> result<std::string> {
    return std::to_string(storage::count_agents(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(number));
}

// -- modify ---------------------------------------------------------------------------------------
awaitable<result<std::optional<agents::resolved_models>>> resolve_change(call& c, const agent& a,
                                                                         const update_agent& change) {
  std::optional<agents::resolved_models> out;
  if (agents::needs_model(change)) {
    auto found = co_await c.s.models->resolve(agents::wanted_handle(change, a));
    if (!found && change.model)
      co_return found.error(); // what the agent has may be gone from its provider: it keeps it
    out.emplace().llm = found ? std::move(*found) : llm_config(a.llm);
  }
  if (change.embedding) {
    auto found = co_await c.s.models->resolve_embedding(*change.embedding);
    if (!found) co_return found.error();
    if (!out) out.emplace().llm = a.llm;
    out->embedding = std::move(*found);
  }
  co_return out;
}

// What the new relations refer to must be there.
std::optional<error> check_relations(const storage::reader& r, update_agent& change, const actor& by) {
  for (auto& id : change.tool_ids.value_or(std::vector<tool_id>{}))
    if (!storage::find_tool(r, id, by.org))
      return fail(errc::conflict, "CONFLICT: tool " + id.str() + " does not exist");
  for (auto& id : change.identity_ids.value_or(std::vector<identity_id>{}))
    if (!storage::find_identity(r, id, by.org)) return storage::not_found_for("Identity", id.str(), by);
  if (!change.block_ids) return std::nullopt;
  std::vector<block_id> kept;
  std::vector<std::string> labels;
  for (auto& id : *change.block_ids) {
    auto b = storage::find_block(r, id, by.org);
    if (!b) return fail(errc::not_found, "Block with id '" + id.str() + "' not found");
    // The later block of a label is left out without a word, as clients are used to.
    if (std::find(labels.begin(), labels.end(), b->label) != labels.end()) continue;
    labels.push_back(b->label);
    kept.push_back(id);
  }
  change.block_ids = std::move(kept);
  return std::nullopt;
}

// The context becomes these messages of the agent, in this order.
result<void> set_context(storage::transaction& t, const agent_id& id,
                         const std::vector<message_id>& messages) {
  std::vector<storage::context_entry> entries;
  for (auto& m : messages) {
    auto at = storage::find_message_place(t, m);
    if (!at || at->agent != id) return fail(errc::not_found, "Message with id " + m.str() + " not found");
    entries.push_back({0, m, at->sequence});
  }
  if (entries.empty()) return invalid_argument("message_ids must hold the system message at least");
  storage::replace_context(t, {id, std::nullopt}, entries);
  return {};
}

result<std::string> store_change(storage::transaction& t, const agent_id& id, update_agent change,
                                 const std::optional<agents::resolved_models>& models, const actor& by,
                                 environment& env) {
  auto a = storage::find_agent(t, id, by.org);
  if (!a) return storage::not_found_for("Agent", id.str(), by);
  if (auto wrong = check_relations(t, change, by)) return *wrong;
  auto before = *a;
  auto activity = storage::activity_of(t, id);
  if (auto wrong = agents::apply(*a, activity, change, models, by, env)) return *wrong;
  storage::put_agent(t, *a, &before);
  storage::put_activity(t, id, activity);
  if (change.enable_sleeptime.value_or(false) && !storage::managed_group(t, id))
    if (auto done = storage::create_companion(t, *a, by, env); !done) return done.error();
  if (auto g = a->enable_sleeptime.value_or(false) ? std::nullopt : storage::managed_group(t, id))
    storage::cancel_waiting_jobs(t, g->id, env);
  if (change.message_ids)
    if (auto done = set_context(t, id, *change.message_ids); !done) return done.error();
  return storage::agent_state(t, *a, agent_relations::all());
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<update_agent>(c);
  if (!body) co_return body.error();
  auto before = storage::find_agent(*c.s.db->snapshot(), *id, c.by.org);
  if (!before) co_return storage::not_found_for("Agent", id->str(), c.by);
  auto models = co_await resolve_change(c, *before, *body);
  if (!models) co_return models.error();
  bool touches_context = body->message_ids.has_value();
  auto change = std::make_shared<const update_agent>(std::move(*body));
  auto store = [id = *id, change, models = *models, by = c.by, env = c.s.env](storage::transaction& t) {
    return store_change(t, id, *change, models, by, *env);
  };
  if (touches_context) co_return co_await write_between_turns(c, id->value, "agent.update", std::move(store));
  co_return co_await write(c, "agent.update", std::move(store));
}

// A turn that is running finds out with its next batch, which is refused.
awaitable<outcome> erase(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto store = [id = *id, by = c.by, env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return storage::not_found_for("Agent", id.str(), by);
    if (auto done = storage::delete_agent(t, *a, *env); !done) return done.error();
    return R"({"message":"Agent id=)" + id.str() + R"( successfully deleted"})";
  };
  co_return co_await write(c, "agent.delete", std::move(store));
}

} // namespace

void add_agents(router& r) {
  r.add("POST", "/agents/", create);
  r.add("GET", "/agents/", list);
  r.add("GET", "/agents/count", count);
  r.add("GET", "/agents/{agent_id}", retrieve);
  r.add("PATCH", "/agents/{agent_id}", modify);
  r.add("DELETE", "/agents/{agent_id}", erase);
}

} // namespace troupe::net::rest
