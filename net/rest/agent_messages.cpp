// /agents/{id}/messages (reference: agent-loop §4, §5, §10.1)
#include "net/rest/agent_parameters.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"

namespace troupe::net::rest {

namespace {

error no_messages() { return fail(errc::unprocessable, "Messages must not be empty"); }

// Options of a stream make no sense without one.
std::optional<error> check_options(const send_request& q) {
  std::string wrong;
  if (q.stream_tokens)
    wrong = "stream_tokens can only be true";
  else if (!q.include_pings)
    wrong = "include_pings can only be set to false";
  else if (q.background)
    wrong = "background can only be true";
  if (wrong.empty()) return std::nullopt;
  return fail(
      errc::unprocessable,
      "Streaming options set without streaming enabled. " + wrong +
          " when streaming=true. Either set streaming=true or use default values for streaming options.");
}

awaitable<outcome> create(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<send_request>(c);
  if (!body) co_return body.error();
  bool streaming = body->streaming.value_or(false);
  if (streaming && !c.new_sdk)
    co_return fail(errc::unprocessable, "streaming=true is only supported for SDK v1.0+ clients.");
  if (body->messages.empty()) co_return no_messages();
  if (!streaming)
    if (auto wrong = check_options(*body)) co_return *wrong;
  auto how = !streaming         ? turn::mode::blocking
             : body->background ? turn::mode::background
                                : turn::mode::stream;
  destination to{*id, std::nullopt, "send_message", std::nullopt};
  co_return co_await send(c, std::move(to), std::move(*body), how);
}

// The older path is always a stream.
awaitable<outcome> stream(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<send_request>(c);
  if (!body) co_return body.error();
  if (body->messages.empty()) co_return no_messages();
  auto how = body->background ? turn::mode::background : turn::mode::stream;
  destination to{*id, std::nullopt, "send_message_streaming", std::nullopt};
  co_return co_await send(c, std::move(to), std::move(*body), how);
}

awaitable<outcome> preview_request(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<send_request>(c);
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
    auto q = window_of(r, page, org);
    if (!q) return q.error();
    q->group = p.group_id;
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

awaitable<outcome> modify(call& c) { co_return co_await refuse_editing<agent_id>(c, "agent_id"); }

} // namespace

void add_agent_messages(router& r) {
  r.add("POST", "/agents/{agent_id}/messages", create);
  r.add("GET", "/agents/{agent_id}/messages", list);
  r.add("POST", "/agents/{agent_id}/messages/stream", stream);
  r.add("POST", "/agents/{agent_id}/messages/preview-raw-payload", preview_request);
  r.add("PATCH", "/agents/{agent_id}/messages/{message_id}", modify);
}

} // namespace troupe::net::rest
