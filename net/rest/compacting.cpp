// Compaction by request, of an agent's own thread or of a conversation (reference: agent-loop §9.6).
#include "core/agents/defaults.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/threads.hpp"

namespace troupe::net::rest {

namespace {

struct compact_request {
  std::optional<json::object> compaction_settings;
  std::optional<std::string> agent_id;
};
BOOST_DESCRIBE_STRUCT(compact_request, (), (compaction_settings, agent_id))

awaitable<outcome> compact(call& c, destination to, const json::object& given, bool takes_what_is_there) {
  auto a = storage::find_agent(*c.s.db->snapshot(), to.agent, c.by.org);
  if (!a) co_return no_agent(to.agent);
  auto settings = agents::merge_compaction(a->compaction, given);
  if (!settings) co_return settings.error();
  send_request nothing; // by name: gcc 12 destroys a temporary twice that is an argument of what is awaited
  auto made = co_await make_order(c, std::move(to), std::move(nothing), turn::mode::blocking);
  if (!made) co_return made.error();
  auto order = std::move(*made);
  // Here a model that is new is asked for.
  if (settings->model) static_cast<void>(co_await c.s.models->resolve(*settings->model));
  order->summarizer = summarizer_of(c, *settings);
  order->compaction = turn::compaction_request{std::move(*settings), takes_what_is_there};
  actors::turn_order_ptr sent = std::move(order);
  auto answer = co_await ask<actors::turn_answer>(c.s.self, c.s.directory, sent);
  if (!answer) co_return answer.error();
  co_return http::response::json(std::move(answer->body));
}

awaitable<outcome> summarize(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = optional_body_of<compact_request>(c);
  if (!body) co_return body.error();
  destination to{*id, std::nullopt, "", std::nullopt};
  auto given = body->compaction_settings.value_or(json::object{});
  co_return co_await compact(c, std::move(to), given, true);
}

awaitable<outcome> compact_conversation(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto body = optional_body_of<compact_request>(c);
  if (!body) co_return body.error();
  auto to = destination_of(c, *name, body->agent_id);
  if (!to) co_return to.error();
  auto given = body->compaction_settings.value_or(json::object{});
  co_return co_await compact(c, std::move(*to), given, false);
}

} // namespace

void add_compacting(router& r) {
  r.add("POST", "/agents/{agent_id}/summarize", summarize);
  r.add("POST", "/conversations/{conversation_id}/compact", compact_conversation);
}

} // namespace troupe::net::rest
