// /conversations: create, read, list, change, delete (reference: agent-loop §11)
#include "storage/conversations.hpp"

#include "core/agents/create.hpp"
#include "core/prompt/system_prompt.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/threads.hpp"
#include "storage/blocks.hpp"
#include "storage/organizations.hpp"
#include "storage/prompts.hpp"

namespace troupe::json {
template <> inline constexpr bool is_literal<storage::conversation_order> = true;
}

namespace troupe::net::rest {

namespace {

std::string api_text(const conversation& c, const std::vector<message_id>& in_context) {
  std::string out;
  write_conversation(out, c, in_context);
  return out;
}

// -- create ---------------------------------------------------------------------------------------
struct agent_query_parameter {
  std::string agent_id;
  static constexpr std::string_view required[] = {"agent_id"};
};
BOOST_DESCRIBE_STRUCT(agent_query_parameter, (), (agent_id))

// Copies of the agent's blocks of these labels, which only the conversation sees and changes.
result<std::vector<block>> isolate(const storage::reader& r, const agent& a,
                                   const std::vector<std::string>& labels, environment& env) {
  std::vector<block> out;
  auto blocks = storage::blocks_of(r, a);
  for (auto& label : labels) {
    auto it = std::find_if(blocks.begin(), blocks.end(), [&](auto& b) { return b.label == label; });
    if (it == blocks.end())
      return invalid_argument("Block with label '" + label + "' not found on agent '" + a.id.str() + "'");
    auto copy = *it;
    copy.id = env.make_id<block_id>();
    copy.created_at = copy.updated_at = env.now();
    copy.version = 1;
    out.push_back(std::move(copy));
  }
  return out;
}

conversation make_conversation(const agent& a, const create_conversation& q, const actor& by,
                               environment& env) {
  conversation c;
  c.created_by_id = c.last_updated_by_id = by.user;
  c.created_at = c.updated_at = env.now();
  c.id = env.make_id<conversation_id>();
  c.agent = a.id;
  c.summary = q.summary;
  c.model = q.model;
  c.model_settings_ = q.model_settings_;
  c.organization_id = by.org;
  return c;
}

storage::stored_message system_of(const agent& a, const conversation& c, const std::vector<block>& blocks,
                                  const actor& by, environment& env) {
  return std::make_shared<const message>(agents::system_message(a, blocks, by, env, c.id));
}

result<std::string> store_new(storage::transaction& t, const agent_id& id, const create_conversation& q,
                              const actor& by, environment& env) {
  auto a = storage::find_agent(t, id, by.org);
  if (!a) return fail(errc::not_found, "Agent not found");
  auto own = isolate(t, *a, q.isolated_block_labels.value_or(std::vector<std::string>{}), env);
  if (!own) return own.error();
  auto c = make_conversation(*a, q, by, env);
  auto blocks = storage::blocks_of(t, *a);
  for (auto& b : *own) {
    storage::put_block(t, b);
    c.isolated_block_ids.push_back(b.id);
    *std::find_if(blocks.begin(), blocks.end(), [&](auto& x) { return x.label == b.label; }) = b;
  }
  storage::create_conversation(t, c, system_of(*a, c, blocks, by, env));
  return api_text(c, {});
}

awaitable<outcome> create(call& c) {
  auto p = query_of<agent_query_parameter>(c);
  if (!p) co_return p.error();
  auto body = optional_body_of<create_conversation>(c);
  if (!body) co_return body.error();
  if (auto wrong = agents::check_model_handle(body->model)) co_return *wrong;
  auto id = agent_id::parse(p->agent_id);
  if (!id) co_return fail(errc::not_found, "Agent not found");
  auto store = [id = *id, q = *body, by = c.by, env = c.s.env](storage::transaction& t) {
    return store_new(t, id, q, by, *env);
  };
  co_return co_await write(c, "conversation.create", std::move(store));
}

// -- fork: the same messages, a system message of its own ------------------------------------------
result<std::string> store_fork(storage::transaction& t, const agent_id& id,
                               const std::optional<conversation_id>& from, const actor& by,
                               environment& env) {
  auto a = storage::find_agent(t, id, by.org);
  if (!a) return no_agent(id);
  auto source = from ? storage::find_conversation(t, *from, by.org) : std::nullopt;
  create_conversation q;
  if (source) {
    q.model = source->model;
    q.model_settings_ = source->model_settings_;
  }
  auto c = make_conversation(*a, q, by, env);
  storage::create_conversation(t, c, system_of(*a, c, storage::blocks_of(t, *a), by, env));
  storage::share_context(t, {id, from}, {id, c.id});
  return api_text(c, {});
}

struct thread_parameters {
  std::optional<std::string> agent_id;
};
BOOST_DESCRIBE_STRUCT(thread_parameters, (), (agent_id))

awaitable<outcome> fork(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto p = query_of<thread_parameters>(c);
  if (!p) co_return p.error();
  auto to = destination_of(c, *name, p->agent_id);
  if (!to) co_return to.error();
  auto store = [id = to->agent, from = to->conversation, by = c.by, env = c.s.env](storage::transaction& t) {
    return store_fork(t, id, from, by, *env);
  };
  co_return co_await write(c, "conversation.fork", std::move(store));
}

// -- recompile --------------------------------------------------------------------------------------
struct recompile_parameters {
  bool dry_run = false;
};
BOOST_DESCRIBE_STRUCT(recompile_parameters, (), (dry_run))

struct recompile_request {
  std::optional<std::string> agent_id;
};
BOOST_DESCRIBE_STRUCT(recompile_request, (), (agent_id))

awaitable<outcome> recompile(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto p = query_of<recompile_parameters>(c);
  if (!p) co_return p.error();
  auto body = optional_body_of<recompile_request>(c);
  if (!body) co_return body.error();
  auto to = destination_of(c, *name, body->agent_id);
  if (!to) co_return to.error();
  storage::context_key context{to->agent, to->conversation};
  auto compiled = [context](const storage::reader& r) -> result<std::string> {
    auto prompt = storage::compile_prompt(r, context, storage::keep_time);
    if (!prompt) return no_agent(context.agent);
    return json::to_text(prompt->text);
  };
  if (p->dry_run) co_return read(c, compiled);
  auto store = [context, compiled](storage::transaction& t) -> result<std::string> {
    auto text = compiled(t);
    if (text) storage::rebuild_system_message(t, context, storage::keep_time);
    return text;
  };
  co_return co_await write(c, "conversation.recompile", std::move(store));
}

// -- read -----------------------------------------------------------------------------------------
error missing(const call& c, const conversation_id& id) {
  return storage::not_found_for("Conversation", id.str(), c.by);
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<conversation_id>(c, "conversation_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto found = storage::find_conversation(r, *id, c.by.org);
    if (!found) return missing(c, *id);
    return api_text(*found, storage::context_ids(r, {found->agent, found->id}));
  });
}

struct list_parameters {
  std::optional<std::string> agent_id, after, summary_search;
  item_limit limit{50};
  sort_order order = sort_order::desc;
  storage::conversation_order order_by = storage::conversation_order::created_at;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (), (agent_id, after, summary_search, limit, order, order_by))

awaitable<outcome> list(call& c) {
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  if (p->limit.value == 0) co_return http::response::json("[]");
  storage::conversation_query q;
  q.limit = items(p->limit);
  q.order = p->order;
  q.by = p->order_by;
  if (p->agent_id) q.agent = agent_id::parse(*p->agent_id).value_or(agent_id{});
  q.summary = p->summary_search;
  if (auto cursor = filled(p->after)) q.after = conversation_id::parse(*cursor).value_or(conversation_id{});
  auto unknown = storage::not_found_for("Conversation", p->after.value_or(""), c.by);
  bool needs_cursor = q.after && q.by != storage::conversation_order::last_run_completion;
  auto list = [q, unknown, needs_cursor, org = c.by.org](const storage::reader& r) -> result<std::string> {
    if (needs_cursor && !storage::find_conversation(r, *q.after, org)) return unknown;
    return json::list_text(storage::list_conversations(r, org, q),
                           [](auto& out, auto& found) { write_conversation(out, found, {}); });
  };
  co_return co_await read_on_worker(c, std::move(list));
}

// -- change ---------------------------------------------------------------------------------------
awaitable<outcome> modify(call& c) {
  auto id = path_id<conversation_id>(c, "conversation_id");
  if (!id) co_return id.error();
  auto body = body_of<update_conversation>(c);
  if (!body) co_return body.error();
  if (auto wrong = agents::check_model_handle(body->model)) co_return *wrong;
  auto store = [id = *id, change = *body, by = c.by, env = c.s.env,
                unknown = missing(c, *id)](storage::transaction& t) -> result<std::string> {
    auto found = storage::find_conversation(t, id, by.org);
    if (!found) return unknown;
    if (change.summary) found->summary = change.summary;
    if (change.model) found->model = change.model;
    if (change.model_settings_) found->model_settings_ = change.model_settings_;
    if (change.last_message_at) found->last_message_at = change.last_message_at;
    found->last_updated_by_id = by.user;
    found->updated_at = env->now();
    storage::put_conversation(t, *found);
    return api_text(*found, {});
  };
  co_return co_await write(c, "conversation.update", std::move(store));
}

awaitable<outcome> erase(call& c) {
  auto id = path_id<conversation_id>(c, "conversation_id");
  if (!id) co_return id.error();
  auto store = [id = *id, by = c.by,
                unknown = missing(c, *id)](storage::transaction& t) -> result<std::string> {
    auto found = storage::find_conversation(t, id, by.org);
    if (!found) return unknown;
    storage::erase_conversation(t, *found);
    return "null";
  };
  co_return co_await write(c, "conversation.delete", std::move(store));
}

} // namespace

void add_conversations(router& r) {
  r.add("POST", "/conversations/", create);
  r.add("GET", "/conversations/", list);
  r.add("GET", "/conversations/{conversation_id}", retrieve);
  r.add("PATCH", "/conversations/{conversation_id}", modify);
  r.add("DELETE", "/conversations/{conversation_id}", erase);
  r.add("POST", "/conversations/{conversation_id}/fork", fork);
  r.add("POST", "/conversations/{conversation_id}/recompile", recompile);
  add_conversation_messages(r);
}

} // namespace troupe::net::rest
