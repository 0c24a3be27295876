// /agents/{id}/messages (reference: agent-loop §4, §5, §10.1)
#include "net/rest/agent_parameters.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"

namespace troupe::net::rest {

namespace {

// Options of a stream make no sense without one.
std::optional<error> check_options(const send_request& q) {
  std::string wrong;
  auto add = [&](bool is_set, const char* what) {
    if (is_set) wrong.append(wrong.empty() ? "" : "; ").append(what).append(" when streaming=true");
  };
  add(q.stream_tokens, "stream_tokens can only be true");
  add(!q.include_pings, "include_pings can only be set to false");
  add(q.background, "background can only be true");
  if (wrong.empty()) return std::nullopt;
  return fail(errc::unprocessable,
              "Streaming options set without streaming enabled. " + wrong +
                  ". Either set streaming=true or use default values for streaming options.");
}

awaitable<outcome> create(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = request_of<send_model::streaming>(c);
  if (!body) co_return body.error();
  bool streaming = body->streaming.value_or(false);
  if (!streaming)
    if (auto wrong = check_options(*body)) co_return *wrong;
  if (streaming && !c.new_sdk)
    co_return fail(errc::unprocessable, "streaming=true is only supported for SDK v1.0+ clients.");
  auto how = mode_of(*body, streaming);
  destination to{*id, std::nullopt, "send_message", std::nullopt};
  co_return co_await send(c, std::move(to), std::move(*body), how);
}

// The older path is always a stream.
awaitable<outcome> stream(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = request_of<send_model::streaming>(c);
  if (!body) co_return body.error();
  auto how = mode_of(*body, true);
  destination to{*id, std::nullopt, "send_message_streaming", std::nullopt};
  co_return co_await send(c, std::move(to), std::move(*body), how);
}

awaitable<outcome> preview_request(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = request_of<send_model::plain>(c);
  if (!body) co_return body.error();
  destination to{*id, std::nullopt, "send_message", std::nullopt};
  co_return co_await preview(c, std::move(to), std::move(*body));
}

struct list_parameters {
  std::optional<std::string> group_id, conversation_id;
  bool use_assistant_message = true;
  std::string assistant_message_tool_name = "send_message";
  std::string assistant_message_tool_kwarg = "message";
  std::optional<bool> include_err;
  std::optional<std::vector<message_type>> include_return_message_types;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (),
                      (group_id, conversation_id, use_assistant_message, assistant_message_tool_name,
                       assistant_message_tool_kwarg, include_err, include_return_message_types))

// A window of the history, oldest first whatever the order: the order says which end the window is taken from.
awaitable<outcome> list(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto list = [id = *id, page = *page, p = *p,
               org = c.by.org](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, id, org);
    if (!a) return fail(errc::not_found, "Agent not found");
    auto q = window_of(r, page, org, id);
    if (!q) return q.error();
    q->group = filled(p.group_id);
    narrow(*q, p.conversation_id);
    project::options o;
    o.use_assistant_message = p.use_assistant_message;
    o.assistant_message_tool_name = p.assistant_message_tool_name;
    o.assistant_message_tool_kwarg = p.assistant_message_tool_kwarg;
    o.text_is_assistant_message = a->type == agent_type::letta_v1_agent;
    return project::to_array(project::project_list(storage::history(r, id, *q), o),
                             p.include_return_message_types);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

// -- what others have talked about, as the agent's history ------------------------------------------
struct capture_request {
  std::string provider, model;
  std::vector<json::object> request_messages;
  json::object response_dict;
  static constexpr std::string_view required[] = {"provider", "model", "request_messages", "response_dict"};
};
BOOST_DESCRIBE_STRUCT(capture_request, (), (provider, model, request_messages, response_dict))

result<storage::stored_message> captured(const call& c, const agent_id& agent, message_role role,
                                         const json::object& said) {
  auto* content = json::find(said, "content");
  if (!content || !content->is_string())
    return fail(errc::unprocessable, "The content of a message that is captured has to be a text");
  message m;
  m.created_by_id = m.last_updated_by_id = c.by.user;
  m.created_at = m.updated_at = c.s.env->now();
  m.id = c.s.env->make_id<message_id>();
  m.agent = agent;
  m.role = role;
  m.content.emplace_back(text_content{std::string(json::view(content->get_string())), std::nullopt});
  m.organization_id = c.by.org;
  return storage::stored_message(std::make_shared<const message>(std::move(m)));
}

// What the user said, and what was answered by that model.
result<std::vector<storage::stored_message>> all_captured(const call& c, const agent_id& agent,
                                                          const capture_request& q) {
  std::vector<storage::stored_message> out;
  for (auto& said : q.request_messages) {
    if (json::string_or(said, "role") != "user") continue;
    auto m = captured(c, agent, message_role::user, said);
    if (!m) return m.error();
    out.push_back(std::move(*m));
  }
  auto answer = captured(c, agent, message_role::assistant, q.response_dict);
  if (!answer) return answer.error();
  message with_model = **answer;
  with_model.model = q.model;
  out.push_back(std::make_shared<const message>(std::move(with_model)));
  return out;
}

// Kept in the history alone: the agent's context is as it was.
awaitable<outcome> capture(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<capture_request>(c);
  if (!body) co_return body.error();
  auto messages = all_captured(c, *id, *body);
  if (!messages) co_return messages.error();
  auto store = [id = *id, messages = *messages, org = c.by.org](auto& t) -> result<std::string> {
    if (!storage::find_agent(t, id, org)) return no_agent(id);
    storage::append_messages(t, messages, nullptr);
    storage::count_messages(t, id, std::ssize(messages));
    return R"({"success":true,"messages_created":)" + std::to_string(messages.size()) + R"(,"run_ids":[]})";
  };
  co_return co_await write(c, "message.capture", std::move(store));
}

awaitable<outcome> modify(call& c) { co_return co_await refuse_editing<agent_id>(c, "agent_id"); }

} // namespace

void add_agent_messages(router& r) {
  r.add("POST", "/agents/{agent_id}/messages", create);
  r.add("GET", "/agents/{agent_id}/messages", list);
  r.add("POST", "/agents/{agent_id}/messages/stream", stream);
  r.add("POST", "/agents/{agent_id}/messages/preview-raw-payload", preview_request);
  r.add("POST", "/agents/{agent_id}/messages/capture", capture);
  r.add("PATCH", "/agents/{agent_id}/messages/{message_id}", modify);
}

} // namespace troupe::net::rest
