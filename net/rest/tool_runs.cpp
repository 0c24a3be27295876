// Running tools by request: from a source, or one of an agent (reference: resources §2.14, §6.5)
#include "core/json/writer.hpp"
#include "core/tools/base_tools.hpp"
#include "core/tools/search_tools.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/tool_sources.hpp"
#include "storage/agents.hpp"
#include "storage/prompts.hpp"
#include "storage/tool_searches.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

// -- from a source --------------------------------------------------------------------------------
struct source_run {
  std::string source_code;
  json::object args, env_vars;
  std::optional<std::string> name, source_type;
  std::optional<json::object> args_json_schema, json_schema;
  std::optional<std::vector<requirement>> pip_requirements, npm_requirements;
  static constexpr const char* required[] = {"source_code", "args"};
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(source_run, (),
                      (source_code, args, env_vars, name, source_type, args_json_schema, json_schema,
                       pip_requirements, npm_requirements))

constexpr std::int64_t usual_limit = 50'000;

void write_result(json::object_writer& w, const tools::tool_result& r) {
  w.add("tool_return", json::python_str(tools::with_note(r, usual_limit)));
  w.add("status", r.status).add("tool_call_id", "null").add("stdout", r.stdout_).add("stderr", r.stderr_);
}

// The same members as a message of a turn has, of a call that belongs to none.
std::string return_message(const tools::tool_result& r, const std::optional<std::string>& name,
                           timestamp now) {
  std::string out;
  json::object_writer w(out);
  w.add("id", "null")
      .add("date", format_date(now))
      .add("name", name)
      .add("message_type", "tool_return_message");
  for (auto empty : {"otid", "sender_id", "step_id", "is_err", "seq_id", "run_id"}) w.null(empty);
  write_result(w, r);
  std::string item;
  {
    json::object_writer one(item);
    one.add("type", "tool");
    write_result(one, r);
  }
  w.raw("tool_returns", "[" + item + "]");
  return out;
}

tools::variables texts(const json::object& given) {
  tools::variables out;
  for (auto& [key, value] : given)
    out.emplace_back(std::string(key.data(), key.size()), json::python_str(value));
  return out;
}

result<void> check_type(const std::optional<std::string>& type) {
  if (!type || *type == "python") return {};
  if (*type == "typescript") return fail(errc::invalid_argument, "Only Python sources can be run");
  return invalid_argument("Tool source type is not supported at this time. Found " + *type);
}

// A request that names the function needs no schema.
awaitable<result<void>> find_schema(call& c, source_run& body) {
  if (body.json_schema && body.json_schema->empty()) body.json_schema.reset();
  if (body.json_schema || filled(body.name)) co_return result<void>{};
  auto derived = co_await schema_of(c, body.source_code, body.args_json_schema);
  if (!derived) co_return derived.error();
  body.json_schema = std::move(*derived);
  co_return result<void>{};
}

std::string function_of(const source_run& body) {
  if (auto name = filled(body.name)) return *name;
  auto* named = json::find(*body.json_schema, "name");
  return named && named->is_string() ? std::string(json::view(named->get_string())) : std::string{};
}

awaitable<outcome> run_source(call& c) {
  auto body = body_of<source_run>(c);
  if (!body) co_return body.error();
  if (auto done = check_type(body->source_type); !done) co_return done.error();
  if (auto done = co_await find_schema(c, *body); !done) co_return done.error();
  tools::tool_run run;
  run.name = function_of(*body);
  run.source = std::move(body->source_code);
  run.schema = std::move(body->json_schema);
  run.arguments = std::move(body->args);
  run.environment = texts(body->env_vars);
  auto answer = co_await in_sandbox(c, tools::run_request(run));
  auto read = tools::read_run_answer(body->name.value_or("None"), answer);
  co_return http::response::json(return_message(read.result, body->name, c.s.env->now()));
}

// -- of an agent ----------------------------------------------------------------------------------
struct tool_call_body {
  json::object args;
};
BOOST_DESCRIBE_STRUCT(tool_call_body, (), (args))

std::string execution_result(const tools::tool_result& r, std::int64_t limit) {
  std::string out;
  json::object_writer w(out);
  bool well = r.status == return_status::success;
  w.add("status", r.status).add("func_return", well ? tools::with_note(r, limit) : json::value(nullptr));
  w.null("agent_state").add("stdout", r.stdout_).add("stderr", r.stderr_).null("sandbox_config_fingerprint");
  return out;
}

struct attached_tool {
  agent self;
  tool wanted;
  std::string state; // of the agent, where the source asks for it
};

result<attached_tool> find_attached(call& c, const agent_id& id, std::string_view name) {
  auto r = c.s.db->snapshot();
  auto self = storage::find_agent(*r, id, c.by.org);
  if (!self) return no_agent(id);
  auto list = storage::tools_of(*r, *self);
  auto it = std::find_if(list.begin(), list.end(), [&](auto& t) { return t.name == name; });
  if (it == list.end())
    return fail(errc::not_found,
                "Tool '" + std::string(name) + "' not found or not attached to agent '" + id.str() + "'");
  attached_tool out{std::move(*self), std::move(*it), {}};
  if (tools::asks_for_agent_state(out.wanted.source_code.value_or("")))
    out.state = storage::agent_state(*r, out.self, agent_relations::all());
  return out;
}

// A built-in tool, as one batch: on the blocks as they are in it.
awaitable<outcome> run_built_in(call& c, attached_tool found, json::object arguments) {
  auto store = [found = std::move(found), arguments = std::move(arguments),
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto& self = found.self;
    tools::memory blocks(storage::blocks_of_context(t, self, std::nullopt));
    tools::tool_context context{self, blocks, *env, storage::searches_of(t, self.id)};
    auto returned = tools::run_core_tool(found.wanted.name, arguments, context);
    if (auto done = storage::edit_memory(t, self.id, blocks.edits(), *env); !done) return done.error();
    return execution_result(returned, found.wanted.return_char_limit);
  };
  co_return co_await write(c, "agent.run_tool", std::move(store));
}

// One that only reads, where long reads are at home.
awaitable<outcome> run_search(call& c, attached_tool found, json::object arguments) {
  auto run = [found = std::move(found), arguments = std::move(arguments),
              env = c.s.env](const storage::reader& r) -> result<std::string> {
    tools::memory none({});
    tools::tool_context context{found.self, none, *env, storage::searches_of(r, found.self.id)};
    auto returned = tools::run_core_tool(found.wanted.name, arguments, context);
    return execution_result(returned, found.wanted.return_char_limit);
  };
  co_return co_await read_on_worker(c, std::move(run));
}

awaitable<outcome> run_of_agent(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = optional_body_of<tool_call_body>(c);
  if (!body) co_return body.error();
  auto found = find_attached(c, *id, c.path_value("tool_name"));
  if (!found) co_return found.error();
  if (tools::is_core_tool(found->wanted) && tools::only_searches(found->wanted.name))
    co_return co_await run_search(c, std::move(*found), std::move(body->args));
  if (tools::is_core_tool(found->wanted))
    co_return co_await run_built_in(c, std::move(*found), std::move(body->args));
  if (!tools::runs_in_sandbox(found->wanted))
    co_return fail(errc::not_implemented, "Tools of type " +
                                              std::string(json::enum_text(found->wanted.tool_type_)) +
                                              " cannot be run by this version yet");
  tools::tool_run run;
  run.name = found->wanted.name;
  run.source = found->wanted.source_code.value_or("");
  run.schema = found->wanted.json_schema;
  run.arguments = std::move(body->args);
  run.environment = tools::variables_of(found->self, found->wanted);
  run.agent_state = std::move(found->state);
  auto answer = co_await in_sandbox(c, tools::run_request(run));
  auto read = tools::read_run_answer(run.name, answer);
  co_return http::response::json(execution_result(read.result, found->wanted.return_char_limit));
}

} // namespace

void add_tool_runs(router& r) {
  r.add("POST", "/tools/run", run_source);
  r.add("POST", "/agents/{agent_id}/tools/{tool_name}/run", run_of_agent);
}

} // namespace troupe::net::rest
