#include "net/rest/sending.hpp"

#include "core/protocol/protocol.hpp"
#include "core/turn/failure.hpp"
#include "core/turn/loops.hpp"
#include "core/turn/output.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/images.hpp"
#include "net/rest/run_streaming.hpp"
#include "storage/groups.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

// Providers whose tokens can be streamed; the rest streams by steps without a word.
bool streams_tokens(const llm_config& c, agent_type type) {
  for (std::string_view known : {"anthropic", "openai", "bedrock", "deepseek", "zai", "zai_coding",
                                 "chatgpt_oauth", "minimax", "openrouter"})
    if (c.model_endpoint_type == known) return true;
  return type == agent_type::letta_v1_agent &&
         (c.model_endpoint_type == "google_ai" || c.model_endpoint_type == "google_vertex");
}

// The model of the request goes before the conversation's; both before the agent's.
awaitable<result<std::optional<llm_config>>> override_of(call& c, const agent& a, const destination& to,
                                                         const send_request& request) {
  std::optional<llm_config> out;
  auto handle = request.override_model ? request.override_model : to.model;
  if (handle) {
    auto found = co_await c.s.models->resolve(*handle);
    if (!found) co_return found.error();
    out = std::move(*found);
  }
  if (request.override_model) co_return out;
  if (out) out->context_window = a.llm.context_window;
  if (to.model_settings_) {
    if (!out) out = a.llm;
    apply_settings(*out, *to.model_settings_);
  }
  co_return out;
}

} // namespace

std::optional<llm_config> summarizer_of(const call& c, const compaction_settings& settings) {
  auto found = settings.model ? c.s.models->known(*settings.model) : std::nullopt;
  if (found && settings.model_settings_) apply_settings(*found, *settings.model_settings_);
  return found;
}

namespace {

// The request's own wish, or the server's.
storage::busy_policy busy_of(const call& c) {
  auto wish = json::enum_from<storage::busy_policy>(c.request.header("x-busy-policy"));
  return wish.value_or(c.s.options.busy);
}

run make_run(const call& c, const destination& to, const send_request& request, turn::mode how) {
  run row;
  row.id = c.s.env->make_id<run_id>();
  row.created_at = c.s.env->now();
  row.agent = to.agent;
  row.conversation = to.conversation;
  row.background = how == turn::mode::background || how == turn::mode::async;
  row.metadata["run_type"] = boost::json::string(to.run_type);
  if (how == turn::mode::async) {
    row.metadata["lettuce"] = nullptr;
    row.callback_url = request.callback_url;
  }
  row.request_config =
      run_request_config{request.use_assistant_message, request.assistant_message_tool_name,
                         request.assistant_message_tool_kwarg, request.include_return_message_types};
  row.organization_id = c.by.org;
  row.project_id = c.project();
  for (auto& m : request.messages)
    if (auto otid = otid_of(m)) row.otids.push_back(*otid);
  return row;
}

} // namespace

namespace {

// What is said to the manager of a group is said to its group; answers to approvals are the manager's own.
std::optional<group_id> group_of_manager(const call& c, const agent& a, const destination& to,
                                         const send_request& request) {
  bool is_message = !request.messages.empty() && std::holds_alternative<message_create>(request.messages[0]);
  if (to.conversation || !is_message) return std::nullopt;
  return storage::group_led_by(*c.s.db->snapshot(), a.id);
}

} // namespace

awaitable<result<std::shared_ptr<storage::turn_order>>> prepare_order(call& c, destination to,
                                                                      send_request request, turn::mode how) {
  auto a = storage::find_agent(*c.s.db->snapshot(), to.agent, c.by.org);
  if (!a) co_return no_agent(to.agent);
  auto model = co_await override_of(c, *a, to, request);
  if (!model) co_return model.error();
  auto order = std::make_shared<storage::turn_order>();
  order->run_row = make_run(c, to, request, how);
  order->agent = to.agent;
  order->conversation = to.conversation;
  order->acting = c.by;
  order->llm_override = std::move(*model);
  order->how = how;
  order->group = to.group ? to.group : group_of_manager(c, *a, to, request);
  order->run_row.group = order->group;
  order->replays = to.replays && how == turn::mode::background;
  if (how != turn::mode::async) order->busy = busy_of(c);
  if (a->compaction.model != a->llm.handle) order->summarizer = summarizer_of(c, a->compaction);
  order->tokens = request.stream_tokens && how != turn::mode::blocking &&
                  streams_tokens(order->llm_override ? *order->llm_override : a->llm, a->type);
  order->request = std::move(request);
  co_return order;
}

awaitable<result<std::shared_ptr<storage::turn_order>>> make_order(call& c, destination to,
                                                                   send_request request, turn::mode how) {
  auto order = co_await prepare_order(c, std::move(to), std::move(request), how);
  if (!order) co_return order.error();
  auto fetched = co_await fetch_images(c, (*order)->request);
  if (!fetched) co_return fetched.error();
  co_return order;
}

namespace {

// The same end as that of a turn that fails at once.
turn::run_end refused_end(const storage::turn_order& order, const error& why) {
  turn::run_end end;
  end.status = run_status::failed;
  end.metadata["error"] = boost::json::string(why.message);
  if (order.how == turn::mode::async) end.reason = stop_reason::error;
  if (!turn::has_events(order.how)) return end;
  auto shape = turn::shape_of(why, false);
  end.reason = shape.reason;
  end.metadata["error"] = turn::error_message(order.run_row.id, shape);
  return end;
}

awaitable<result<void>> store_refused(call& c, const storage::turn_order& order, const error& why) {
  auto ended = order.run_row;
  storage::end_run(ended, refused_end(order, why), c.s.env->now());
  std::function<result<void>(storage::transaction&)> store = [ended](auto& t) -> result<void> {
    storage::create_run(t, ended);
    return {};
  };
  co_return co_await commit(c, "run.refused", std::move(store));
}

void show_refusal(const call& c, const storage::turn_order& order, const error& why) {
  auto& id = order.run_row.id;
  std::optional<actors::stream_frame> first;
  if (order.request.include_pings)
    first = actors::stream_frame{turn::ping(id, c.s.env->now(), *c.s.env, std::nullopt)};
  c.s.streams->open(id, order.how == turn::mode::background, std::move(first));
  turn::finished end;
  end.failure = why;
  for (auto& f : turn::closing_frames(end, id, order.how, false, order.tokens))
    c.s.streams->append(id, {std::move(f.data), f.is_error});
  c.s.streams->end(id);
}

} // namespace

awaitable<outcome> refuse(call& c, const storage::turn_order& order, const error& why) {
  auto& row = order.run_row;
  auto stored = co_await store_refused(c, order, why);
  if (!stored) co_return stored.error();
  if (order.how == turn::mode::blocking) co_return why;
  if (turn::has_events(order.how)) {
    show_refusal(c, order, why);
    co_return events_of(c, row.id, {0, order.request.include_pings});
  }
  if (row.callback_url && c.s.streams->on_callback) c.s.streams->on_callback(row.id);
  std::string out;
  run::write_api(out, row, false);
  co_return http::response::json(std::move(out));
}

awaitable<outcome> send(call& c, destination to, send_request request, turn::mode how) {
  bool pings = request.include_pings;
  auto made = co_await prepare_order(c, std::move(to), std::move(request), how);
  if (!made) co_return made.error();
  auto fetched = co_await fetch_images(c, (*made)->request);
  if (!fetched) co_return co_await refuse(c, **made, fetched.error());
  actors::turn_order_ptr order = std::move(*made);
  auto answer = co_await ask<actors::turn_answer>(c.s.self, c.s.directory, order);
  if (!answer) {
    c.s.streams->drop(order->run_row.id);
    co_return answer.error();
  }
  if (how == turn::mode::blocking) co_return http::response::json(std::move(answer->body));
  co_return events_of(c, answer->run.value_or(order->run_row.id), {0, pings});
}

namespace {

// What the turn begins with. A loop that refuses its request says so when the run's end is stored: here nothing is, so
// it is told that it was.
outcome first_request(turn::machine& loop) {
  auto effects = loop.handle(turn::started{});
  for (auto& effect : effects)
    if (auto* model = std::get_if<turn::call_model>(&effect))
      return http::response::json(protocol::request_body(model->request));
  bool ends = std::any_of(effects.begin(), effects.end(), [](auto& effect) {
    auto* batch = std::get_if<turn::commit>(&effect);
    return batch && batch->batch.end;
  });
  if (ends) effects = loop.handle(turn::committed{});
  for (auto& effect : effects) {
    auto* end = std::get_if<turn::finished>(&effect);
    if (!end || !end->failure) continue;
    // A pending approval is a plain text here.
    if (end->failure->code == errc::pending_approval) return fail(errc::conflict, end->failure->message);
    return *end->failure;
  }
  return fail(errc::conflict, "CONFLICT: the turn would not begin with a request to the model");
}

} // namespace

awaitable<outcome> preview(call& c, destination to, send_request request) {
  request.max_steps = send_request{}.max_steps; // only the first is shown, and there is always one
  auto made = co_await make_order(c, to, std::move(request), turn::mode::blocking);
  if (!made) co_return made.error();
  auto in = storage::load_turn(*c.s.db->snapshot(), **made);
  if (!in) co_return in.error();
  auto loop = turn::make_loop(std::move(*in), *c.s.env);
  co_return first_request(*loop);
}

} // namespace troupe::net::rest
