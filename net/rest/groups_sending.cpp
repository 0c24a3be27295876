// POST /groups/{id}/messages, /stream, /async: a run of the group (reference: groups §1.3, §2).
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"
#include "storage/groups.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

// Who leads it: its manager, or its first member. What is said to a sleeptime group is said to the agent that it
// keeps the memory of.
result<destination> destination_of(const call& c, std::string run_type) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) return id.error();
  auto snapshot = c.s.db->snapshot();
  auto g = storage::find_group(*snapshot, *id, c.by.org);
  if (!g) return storage::not_found_for("Group", id->str(), c.by);
  destination to;
  to.run_type = std::move(run_type);
  if (!is_sleeptime(g->manager_type_)) to.group = g->id;
  auto candidates = g->agent_ids;
  if (g->manager_agent_id) candidates.insert(candidates.begin(), *g->manager_agent_id);
  for (auto& agent : candidates)
    if (storage::find_agent(*snapshot, agent, c.by.org)) {
      to.agent = agent;
      return to;
    }
  return fail(errc::invalid_argument, "Empty group");
}

result<send_request> said_to_group(call& c) {
  auto body = request_of<send_model::all>(c);
  if (!body) return body.error();
  for (auto& m : body->messages)
    if (!std::holds_alternative<message_create>(m))
      return fail(errc::invalid_argument, "Approvals are answered to the agent that asks for them");
  return body;
}

awaitable<outcome> send_to(call& c, turn::mode how) {
  auto to =
      destination_of(c, how == turn::mode::blocking ? "send_group_message" : "send_group_message_streaming");
  if (!to) co_return to.error();
  auto body = said_to_group(c);
  if (!body) co_return body.error();
  how = mode_of(*body, how == turn::mode::stream || body->streaming.value_or(false));
  co_return co_await send(c, std::move(*to), std::move(*body), how);
}

awaitable<outcome> create(call& c) { co_return co_await send_to(c, turn::mode::blocking); }
awaitable<outcome> stream(call& c) { co_return co_await send_to(c, turn::mode::stream); }

awaitable<outcome> create_async(call& c) {
  auto to = destination_of(c, "send_group_message_async");
  if (!to) co_return to.error();
  auto body = said_to_group(c);
  if (!body) co_return body.error();
  co_return co_await accept(c, std::move(*to), std::move(*body));
}

} // namespace

void add_group_sending(router& r) {
  r.add("POST", "/groups/{group_id}/messages", create);
  r.add("POST", "/groups/{group_id}/messages/stream", stream);
  r.add("POST", "/groups/{group_id}/messages/async", create_async);
}

} // namespace troupe::net::rest
