// POST /agents/{id}/messages/async (reference: agent-loop §6.3): the run is the answer, the work goes on without its
// client, also over a restart.
#include "net/rest/agent_parameters.hpp"
#include "net/rest/images.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"
#include "storage/runs.hpp"

namespace troupe::net::rest {

namespace {

awaitable<outcome> create(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = request_of<send_model::async>(c);
  if (!body) co_return body.error();
  if (!storage::find_agent(*c.s.db->snapshot(), *id, c.by.org))
    co_return fail(errc::not_found, "Agent not found");
  destination to{*id, std::nullopt, "send_message_async", std::nullopt};
  co_return co_await accept(c, std::move(to), std::move(*body));
}

} // namespace

awaitable<outcome> accept(call& c, destination to, send_request request) {
  request.client_tools.clear(); // nobody is there to run them
  request.client_skills.clear();
  request.stream_tokens = false;
  auto made = co_await prepare_order(c, to, request, turn::mode::async);
  if (!made && request.override_model) { // the run fails of a model that nobody knows, not the request
    auto why = made.error();
    request.override_model.reset();
    made = co_await prepare_order(c, to, request, turn::mode::async);
    if (made) co_return co_await refuse(c, **made, why);
  }
  if (!made) co_return made.error();
  auto fetched = co_await fetch_images(c, (*made)->request);
  if (!fetched) co_return co_await refuse(c, **made, fetched.error());
  actors::turn_order_ptr order = std::move(*made);
  auto accepted = co_await ask<actors::turn_answer>(c.s.self, c.s.directory, order);
  if (!accepted) co_return accepted.error();
  std::string out;
  // A request that came twice is answered with the run that it began; a new one as it was accepted.
  bool began_before = accepted->run && *accepted->run != order->run_row.id;
  auto row = began_before ? storage::find_run(*c.s.db->snapshot(), *accepted->run) : std::nullopt;
  run::write_api(out, row.value_or(order->run_row), false);
  co_return http::response::json(std::move(out));
}

void add_async(router& r) { r.add("POST", "/agents/{agent_id}/messages/async", create); }

} // namespace troupe::net::rest
