// POST /agents/{id}/generate: one call of the agent's model, without the agent (reference: agent-loop §4.3).
#include "core/protocol/protocol.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/errors.hpp"
#include "net/rest/resources.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

namespace {

struct prompt_text {
  std::string value;
};

bool read(json::reader& r, const json::value& v, prompt_text& out) {
  if (!json::read(r, v, out.value)) return false;
  if (!out.value.empty()) return true;
  return r.fail("string_too_short", "String should have at least 1 character", v, "{'min_length': 1}");
}

struct generate_body {
  prompt_text prompt;
  std::optional<std::string> system_prompt, override_model;
  std::optional<json::object> response_schema;

  static constexpr std::string_view required[] = {"prompt"};
};
BOOST_DESCRIBE_STRUCT(generate_body, (), (prompt, system_prompt, override_model, response_schema))

constexpr const char* answer_tool = "structured_output";

std::shared_ptr<const message> said(message_role role, const std::string& text, timestamp now) {
  message m;
  m.role = role;
  m.created_at = now;
  m.content.emplace_back(text_content{text, std::nullopt});
  return std::make_shared<const message>(std::move(m));
}

// A schema for the answer becomes a tool that the model has to call: every provider understands that.
model_request request_for(const call& c, const generate_body& body, llm_config config) {
  model_request q;
  q.config = std::move(config);
  auto now = c.s.env->now();
  if (body.system_prompt) q.messages.push_back(said(message_role::system, *body.system_prompt, now));
  q.messages.push_back(said(message_role::user, body.prompt.value, now));
  q.user = c.by.user.str();
  q.choice.what = tool_choice::kind::none;
  if (body.response_schema) {
    q.tools.push_back(
        {answer_tool, "Gives the answer in the form that is asked for.", *body.response_schema});
    q.choice = {tool_choice::kind::named, answer_tool};
  }
  return q;
}

actors::model_call_ptr call_for(call& c, const model_request& q) {
  auto out = std::make_shared<actors::model_call>();
  out->config = q.config;
  out->chunks.step = c.s.env->make_id<step_id>();
  return out;
}

std::string text_of_reply(const model_reply& reply) {
  for (auto& made : reply.calls)
    if (made.name == answer_tool) return made.arguments;
  std::string out;
  for (auto& part : reply.content)
    if (auto* t = std::get_if<text_content>(&part)) out += t->text;
  return out;
}

std::string answer_text(const model_reply& reply, const llm_config& config) {
  usage_statistics usage;
  usage.completion_tokens = reply.usage.completion;
  usage.prompt_tokens = reply.usage.prompt;
  usage.total_tokens = reply.usage.total;
  usage.step_count = 1;
  usage.cached_input_tokens = reply.usage.cached_input;
  usage.cache_write_tokens = reply.usage.cache_write;
  usage.reasoning_tokens = reply.usage.reasoning;
  std::string out;
  json::object_writer(out)
      .add("content", text_of_reply(reply))
      .add("model", config.model)
      .add("usage", usage);
  return out;
}

awaitable<outcome> generate(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<generate_body>(c);
  if (!body) co_return body.error();
  auto a = storage::find_agent(*c.s.db->snapshot(), *id, c.by.org);
  if (!a) co_return no_agent(*id);
  auto config = a->llm;
  if (auto handle = filled(body->override_model)) {
    auto other = co_await c.s.models->resolve(*handle);
    if (!other) co_return fail(errc::not_found, "Model '" + *handle + "' not found or not accessible");
    config = std::move(*other);
  }
  auto request = request_for(c, *body, config);
  auto made = call_for(c, request);
  actors::model_body_ptr sent = std::make_shared<const std::string>(protocol::request_body(request));
  auto done = co_await ask<actors::model_result_ptr>(c.s.self, c.s.calls, made, sent);
  if (!done) co_return detail(502, done.error().message);
  auto& reply = (*done)->reply;
  if (!reply) co_return detail(502, reply.error().message);
  co_return http::response::json(answer_text(*reply, config));
}

} // namespace

void add_agent_generate(router& r) { r.add("POST", "/agents/{agent_id}/generate", generate); }

} // namespace troupe::net::rest
