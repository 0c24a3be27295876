// /conversations/{id}/messages: a named thread, or the default one by `default` or the agent's id
// (reference: agent-loop §10.2, §11)
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/threads.hpp"
#include "storage/agents.hpp"
#include "storage/conversations.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

// Somebody writes to the conversation now, whatever comes of it. The store takes it with what the turn stores first.
void note_activity(const call& c, const conversation_id& id) {
  auto apply = [id, by = c.by, now = c.s.env->now()](storage::transaction& t) -> result<void> {
    auto found = storage::find_conversation(t, id, by.org);
    if (!found) return {};
    found->last_message_at = found->updated_at = now;
    found->last_updated_by_id = by.user;
    storage::put_conversation(t, *found);
    return {};
  };
  actors::write w{"conversation.activity", std::move(apply), actors::write::when::beside};
  c.s.self->request(c.s.store, caf::infinite, std::move(w))
      .then([](actors::done) {}, [](const caf::error&) {}); // the turn meets a store that fails itself
}

// A stream has neither of these, whatever is asked for.
void drop_extras(send_request& q) {
  q.include_compaction_messages = q.return_logprobs = q.return_token_ids = false;
  q.top_logprobs.reset();
}

awaitable<outcome> create(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto body = request_of<send_model::conversation>(c);
  if (!body) co_return body.error();
  auto to = destination_of(c, *name, body->agent_id_text);
  if (!to) co_return to.error();
  bool streaming = body->streaming.value_or(true), is_named = to->conversation.has_value();
  if (is_named) note_activity(c, *to->conversation);
  if (streaming) drop_extras(*body);
  auto how = mode_of(*body, streaming);
  auto out = co_await send(c, std::move(*to), std::move(*body), how);
  if (!out && is_named) co_await commit_the_rest(c); // what was noted is there when the refusal is
  // Here the refusal of a message beside a pending approval is a plain text.
  if (!out && out.error().code == errc::pending_approval) co_return fail(errc::conflict, out.error().message);
  co_return out;
}

awaitable<outcome> preview_request(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto body = request_of<send_model::conversation>(c);
  if (!body) co_return body.error();
  auto to = destination_of(c, *name, body->agent_id_text);
  if (!to) co_return to.error();
  co_return co_await preview(c, std::move(*to), std::move(*body));
}

struct list_parameters {
  std::optional<std::string> agent_id, group_id;
  std::optional<bool> include_err;
  std::optional<std::vector<message_type>> include_return_message_types;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (), (agent_id, group_id, include_err, include_return_message_types))

result<std::string> default_thread(const storage::reader& r, const agent_id& id, const org_id& org,
                                   const page_parameters& page, const list_parameters& p) {
  auto a = storage::find_agent(r, id, org);
  if (!a) return fail(errc::not_found, "Agent not found");
  auto q = window_of(r, page, org, id);
  if (!q) return q.error();
  q->default_thread = true;
  q->group = filled(p.group_id);
  project::options o;
  o.text_is_assistant_message = a->type == agent_type::letta_v1_agent;
  return project::to_array(project::project_list(storage::history(r, id, *q), o),
                           p.include_return_message_types);
}

result<std::string> named_thread(const storage::reader& r, const conversation_id& id, const org_id& org,
                                 const page_parameters& page, const list_parameters& p) {
  auto found = storage::find_conversation(r, id, org);
  if (!found) return "[]";
  storage::thread_query q;
  q.limit = page.items(100);
  q.newest_first = page.order.value_or(sort_order::desc) == sort_order::desc;
  q.before = message_id::parse(page.before.value_or(""));
  q.after = message_id::parse(page.after.value_or(""));
  q.group = filled(p.group_id);
  project::options o;
  o.text_is_assistant_message = true; // whatever its agent is
  return project::to_array(project::project_list(storage::thread(r, id, q), o),
                           p.include_return_message_types);
}

awaitable<outcome> list(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  if (page->limit && page->limit->value == 0) co_return http::response::json("[]");
  auto agent = name->agent;
  if (auto text = filled(p->agent_id); name->is_default && text) {
    agent = agent_id::parse(*text);
    if (!agent) co_return fail(errc::not_found, "Agent not found");
  }
  auto list = [agent, conversation = name->conversation, page = *page, p = *p,
               org = c.by.org](const storage::reader& r) -> result<std::string> {
    if (conversation) return named_thread(r, *conversation, org, page, p);
    if (agent) return default_thread(r, *agent, org, page, p);
    return "[]";
  };
  co_return co_await read_on_worker(c, std::move(list));
}

} // namespace

void add_conversation_messages(router& r) {
  r.add("POST", "/conversations/{conversation_id}/messages", create);
  r.add("POST", "/conversations/{conversation_id}/messages/preview-raw-payload", preview_request);
  r.add("GET", "/conversations/{conversation_id}/messages", list);
}

} // namespace troupe::net::rest
