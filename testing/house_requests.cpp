#include "core/json/value.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "testing/house.hpp"

namespace troupe::test {

// -- what the model says --------------------------------------------------------------------------
model_reply text_reply(std::string text) {
  model_reply r;
  r.content.emplace_back(text_content{std::move(text), std::nullopt});
  r.finish_reason = "stop";
  r.usage.prompt = prompt_tokens;
  r.usage.completion = completion_tokens;
  r.usage.total = prompt_tokens + completion_tokens;
  return r;
}

model_reply call_reply(std::vector<tool_call> calls, std::string text) {
  auto r = text_reply(std::move(text));
  r.calls = std::move(calls);
  r.finish_reason = "tool_calls";
  return r;
}

tool_call append_call(std::string id, std::string content) {
  json::object arguments;
  arguments["label"] = "human";
  arguments["content"] = boost::json::string(content);
  return {std::move(id), "core_memory_append", json::print(json::value(std::move(arguments)))};
}

send_request text_request(std::string text) {
  send_request q;
  message_create m;
  m.content.emplace_back(text_content{std::move(text), std::nullopt});
  q.messages.emplace_back(std::move(m));
  q.has_messages = true;
  q.include_pings = false;
  return q;
}

// -- requests -------------------------------------------------------------------------------------
sent_turn house::send(const agent_id& to, std::string text, mode how) {
  return send(to, text_request(std::move(text)), how);
}

sent_turn house::send(const agent_id& to, send_request request, mode how,
                      std::optional<conversation_id> conversation) {
  auto order = new_order(to, std::move(request), how);
  order->conversation = order->run_row.conversation = conversation;
  return submit(std::move(order));
}

std::shared_ptr<storage::turn_order> house::new_order(const agent_id& to, send_request request, mode how) {
  auto order = std::make_shared<storage::turn_order>();
  order->run_row.id = env.make_id<run_id>();
  order->run_row.created_at = env.now();
  order->run_row.agent = to;
  order->run_row.organization_id = default_org_id();
  order->run_row.background = how == mode::background || how == mode::async;
  order->agent = to;
  order->acting = acting();
  order->how = how;
  order->tokens = request.stream_tokens;
  order->request = std::move(request);
  return order;
}

sent_turn house::submit(std::shared_ptr<storage::turn_order> order) {
  sent_turn out{order->run_row.id, order->agent, order->conversation, order->how, nullptr};
  out.reply = ask<actors::turn_answer>(directory, actors::turn_order_ptr(std::move(order)));
  return out;
}

sent_turn house::decide(const agent_id& to, const std::vector<std::string>& call_ids, bool approve, mode how,
                        std::optional<conversation_id> conversation) {
  send_request q;
  approval_create a;
  a.approvals.emplace();
  for (auto& id : call_ids) a.approvals->push_back({false, id, approve, std::nullopt, {}});
  q.messages.emplace_back(std::move(a));
  q.has_messages = true;
  q.include_pings = false;
  return send(to, std::move(q), how, conversation);
}

answer_ptr<bool> house::cancel(const sent_turn& t) {
  auto context = t.conversation ? t.conversation->value : t.agent.value;
  return ask<bool>(directory, actors::cancel_atom_v, context, t.id.value);
}

answer_ptr<actors::done> house::edit(const agent_id& context,
                                     std::function<result<void>(storage::transaction&)> apply) {
  return ask<actors::done>(directory, context.value, actors::exclusive_edit{{"test.edit", std::move(apply)}});
}

answer_ptr<actors::done> house::write(std::function<result<void>(storage::transaction&)> apply) {
  return ask<actors::done>(store, actors::write{"test.write", std::move(apply)});
}

answer_ptr<std::string> house::query(std::function<result<std::string>(const storage::reader&)> read) {
  return ask<std::string>(queries, actors::query{std::move(read)});
}

std::size_t house::resident() {
  auto status = ask<actors::actor_status>(directory, actors::status_atom_v);
  settle();
  CAF_REQUIRE(status->value);
  return status->value->resident;
}

// -- the model ------------------------------------------------------------------------------------
const model_desk::call& house::only_call() const {
  std::vector<const model_desk::call*> waiting;
  for (auto& c : desk->calls)
    if (!c.abandoned) waiting.push_back(&c);
  if (waiting.size() != 1) CAF_FAIL("calls that wait for the model: " << waiting.size());
  return *waiting.front();
}

caf::actor house::caller() const { return caf::actor_cast<caf::actor>(only_call().caller); }

void house::answer_model(std::size_t index, result<model_reply> reply, bool visible) {
  auto r = std::make_shared<actors::model_result>();
  r->reply = std::move(reply);
  r->duration_ns = 1'000'000;
  r->visible = visible;
  caf::anon_send(caf::actor_cast<caf::actor>(models), desk->calls.at(index).step(),
                 actors::model_result_ptr(std::move(r)));
}

void house::say(result<model_reply> reply) {
  auto index = static_cast<std::size_t>(&only_call() - desk->calls.data());
  answer_model(index, std::move(reply));
  settle();
}

void house::answer_tool(std::size_t index, std::string outcome) {
  auto id = tool_desk->jobs.at(index).what->id;
  caf::anon_send(caf::actor_cast<caf::actor>(sandbox), id,
                 R"({"stdout":"","stderr":"","outcome":)" + outcome + "}");
  settle();
}

void house::say(std::string text) { say(result<model_reply>(text_reply(std::move(text)))); }

void house::show_token(const run_id& run, std::string data) {
  streams->append(run, actors::stream_frame{std::move(data)});
}

// -- event streams --------------------------------------------------------------------------------
std::shared_ptr<event_reader> house::attach(const run_id& run, std::uint64_t after) {
  auto r = std::make_shared<event_reader>();
  r->source = streams->attach(run, after, false);
  return r;
}

namespace {

net::awaitable<void> read_all(event_reader& r, bool& done) {
  for (;;) {
    auto some = co_await r.source->next(std::chrono::milliseconds(0));
    r.ended = !some;
    if (!some || some->empty()) break;
    r.events.insert(r.events.end(), some->begin(), some->end());
  }
  done = true;
}

} // namespace

void house::read(event_reader& r) {
  bool done = false;
  asio::co_spawn(io, read_all(r, done), asio::detached);
  while (!done) {
    io.restart();
    io.poll();
  }
}

lines house::kinds(event_reader& r) {
  read(r);
  lines out;
  for (auto& e : r.events) {
    auto at = e.find("{");
    auto v = at == std::string::npos ? std::nullopt : json::try_parse(std::string_view(e).substr(at));
    out.push_back(v ? std::string(json::string_or(v->get_object(), "message_type")) : e);
  }
  return out;
}

} // namespace troupe::test
