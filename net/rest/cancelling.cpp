// Cancelling runs, by their ids, of an agent or of a conversation (reference: agent-loop §6.4).
#include "net/rest/cancelling.hpp"

#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/threads.hpp"
#include "storage/agents.hpp"
#include "storage/cancel.hpp"
#include "storage/conversations.hpp"

namespace troupe::net::rest {

// Where its context works on the run, the turn ends it; otherwise the store does.
awaitable<bool> cancel_one(call& c, const run_id& id) {
  auto row = storage::find_run(*c.s.db->snapshot(), id, c.by.org);
  if (!row) co_return false;
  // One that has ended stays as it is, whatever works there now; but its question for approval may be open.
  if (is_terminal(row->status) && row->stop_reason_ != stop_reason::requires_approval) co_return true;
  auto context = row->group          ? row->group->value
                 : row->conversation ? row->conversation->value
                                     : row->agent.value;
  auto here = co_await ask<bool>(c.s.self, c.s.directory, actors::cancel_atom_v, context, id.value);
  if (here && *here) co_return true;
  auto stored = co_await write_between_turns(
      c, context, "run.cancel", [id, env = c.s.env](storage::transaction& t) -> result<std::string> {
        auto cancelled = storage::cancel_run(t, id, *env);
        if (!cancelled) return cancelled.error();
        return std::string("null");
      });
  co_return stored.has_value();
}

namespace {

struct cancel_request {
  std::optional<std::vector<std::string>> run_ids;
};
BOOST_DESCRIBE_STRUCT(cancel_request, (), (run_ids))

awaitable<outcome> cancel_all(call& c, std::vector<std::string> ids) {
  json::object out;
  for (auto& text : ids) {
    auto id = run_id::parse(text);
    bool done = id && co_await cancel_one(c, *id);
    out[text] = done ? "cancelled" : "failed";
  }
  co_return http::response::json(json::print(json::value(std::move(out))));
}

std::vector<std::string> texts_of(const std::vector<run_id>& ids) {
  std::vector<std::string> out;
  out.reserve(ids.size());
  for (auto& id : ids) out.push_back(id.str());
  return out;
}

error nothing_runs(const std::string& what) {
  return fail(errc::conflict, "CONFLICT: No active runs to cancel for " + what);
}

awaitable<outcome> cancel_agent(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = optional_body_of<cancel_request>(c);
  if (!body) co_return body.error();
  auto ids = body->run_ids.value_or(std::vector<std::string>{});
  if (ids.empty()) {
    auto snapshot = c.s.db->snapshot();
    if (storage::find_agent(*snapshot, *id, c.by.org))
      ids = texts_of(storage::runs_to_cancel(*snapshot, *id, std::nullopt, true));
  }
  if (ids.empty()) co_return nothing_runs("agent " + id->str());
  co_return co_await cancel_all(c, std::move(ids));
}

struct cancel_parameters {
  std::optional<std::string> agent_id;
};
BOOST_DESCRIBE_STRUCT(cancel_parameters, (), (agent_id))

// Of an agent: those of every thread that go on. What names no agent has none.
std::vector<run_id> active_runs_of(const call& c, const std::optional<agent_id>& agent) {
  std::vector<run_id> out;
  if (!agent) return out;
  storage::run_query q;
  q.agents = {*agent};
  q.statuses = {run_status::created, run_status::running};
  for (auto& row : storage::list_runs(*c.s.db->snapshot(), c.by.org, q)) out.push_back(row.id);
  return out;
}

result<std::vector<run_id>> runs_of_thread(const call& c, const thread_name& name,
                                           const std::optional<std::string>& agent_text) {
  if (name.agent) return active_runs_of(c, name.agent);
  if (auto text = filled(agent_text); name.is_default && text)
    return active_runs_of(c, agent_id::parse(*text));
  auto to = destination_of(c, name, std::nullopt);
  if (!to) return to.error();
  return storage::runs_to_cancel(*c.s.db->snapshot(), to->agent, to->conversation, false);
}

awaitable<outcome> cancel_conversation(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto parameters = query_of<cancel_parameters>(c);
  if (!parameters) co_return parameters.error();
  auto ids = runs_of_thread(c, *name, parameters->agent_id);
  if (!ids) co_return ids.error();
  if (ids->empty()) co_return nothing_runs("conversation " + std::string(c.path_value("conversation_id")));
  co_return co_await cancel_all(c, texts_of(*ids));
}

} // namespace

void add_cancelling(router& r) {
  r.add("POST", "/agents/{agent_id}/messages/cancel", cancel_agent);
  r.add("POST", "/conversations/{conversation_id}/cancel", cancel_conversation);
}

} // namespace troupe::net::rest
