#include "net/rest/sending.hpp"

#include "core/protocol/protocol.hpp"
#include "core/turn/loops.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/images.hpp"
#include "net/rest/run_streaming.hpp"
#include "storage/groups.hpp"

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

awaitable<result<actors::turn_order_ptr>> make_order(call& c, destination to, send_request request,
                                                     turn::mode how) {
  auto a = storage::find_agent(*c.s.db->snapshot(), to.agent, c.by.org);
  if (!a) co_return no_agent(to.agent);
  auto model = co_await override_of(c, *a, to, request);
  if (!model) co_return model.error();
  if (auto fetched = co_await fetch_images(c, request); !fetched) co_return fetched.error();
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
                  streams_tokens(order->llm_override.value_or(a->llm), a->type);
  order->request = std::move(request);
  co_return actors::turn_order_ptr(std::move(order));
}

awaitable<outcome> send(call& c, destination to, send_request request, turn::mode how) {
  bool pings = request.include_pings;
  auto made = co_await make_order(c, to, std::move(request), how);
  if (!made) co_return made.error();
  auto order = *made;
  auto answer = co_await ask<actors::turn_answer>(c.s.self, c.s.directory, order);
  if (!answer) {
    c.s.streams->drop(order->run_row.id);
    co_return answer.error();
  }
  if (how == turn::mode::blocking) co_return http::response::json(std::move(answer->body));
  co_return events_of(c, answer->run.value_or(order->run_row.id), {0, pings});
}

awaitable<outcome> preview(call& c, destination to, send_request request) {
  auto made = co_await make_order(c, to, std::move(request), turn::mode::blocking);
  if (!made) co_return made.error();
  auto in = storage::load_turn(*c.s.db->snapshot(), **made);
  if (!in) co_return in.error();
  auto loop = turn::make_loop(std::move(*in), *c.s.env);
  for (auto& effect : loop->handle(turn::started{})) {
    if (auto* model = std::get_if<turn::call_model>(&effect))
      co_return http::response::json(protocol::request_body(model->request));
    if (auto* end = std::get_if<turn::finished>(&effect); end && end->failure) co_return *end->failure;
  }
  co_return fail(errc::conflict, "CONFLICT: the turn would not begin with a request to the model");
}

} // namespace troupe::net::rest
