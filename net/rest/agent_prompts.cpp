// The system message of an agent, its context, and their reset (reference: resources §2.14, §2.15, §3.7)
#include "core/agents/create.hpp"
#include "core/prompt/tokens.hpp"
#include "core/protocol/openai_chat.hpp"
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/conversations.hpp"
#include "storage/organizations.hpp"
#include "storage/prompts.hpp"
#include "storage/shared_tools.hpp"

namespace troupe::net::rest {

namespace {

// -- recompile ------------------------------------------------------------------------------------
struct recompile_parameters {
  bool update_timestamp = false;
  bool dry_run = false;
};
BOOST_DESCRIBE_STRUCT(recompile_parameters, (), (update_timestamp, dry_run))

awaitable<outcome> recompile(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<recompile_parameters>(c);
  if (!p) co_return p.error();
  storage::prompt_time time;
  if (p->update_timestamp) time.at = c.s.env->now();
  auto compiled = [id = *id, org = c.by.org, time](const storage::reader& r) -> result<std::string> {
    if (!storage::find_agent(r, id, org)) return no_agent(id);
    auto prompt = storage::compile_prompt(r, {id, std::nullopt}, time);
    return json::to_text(prompt ? prompt->text : std::string{});
  };
  if (p->dry_run) co_return read(c, compiled);
  auto store = [id = *id, time, compiled](storage::transaction& t) -> result<std::string> {
    auto text = compiled(t);
    if (text) storage::rebuild_system_message(t, id, time);
    return text;
  };
  co_return co_await write(c, "agent.recompile", std::move(store));
}

// -- the context overview -------------------------------------------------------------------------
void add_section(json::object_writer& w, const std::string& name,
                 const std::optional<std::string_view>& text) {
  w.add("num_tokens_" + name, text ? prompt::estimate_tokens(*text) : 0);
  if (text)
    w.add(name, *text);
  else
    w.null(name);
}

std::int64_t tokens_of(const std::optional<std::string_view>& text) {
  return text ? prompt::estimate_tokens(*text) : 0;
}

// The messages and the tools as they would go to a provider.
struct wire_sizes {
  std::int64_t messages = 0, tools = 0;
  std::string tool_definitions = "[]";
};

wire_sizes measure(const agent& a, const std::vector<storage::stored_message>& messages,
                   const std::vector<shared_tool>& tools) {
  model_request q;
  q.config = a.llm;
  q.messages = messages;
  for (auto& t : tools) q.tools.push_back(offered(t));
  auto body = *json::try_parse(openai_chat::request_body(q));
  wire_sizes out;
  if (auto* list = json::find(body, "messages"); list && list->is_array() && list->get_array().size() > 1) {
    auto rest = list->get_array();
    rest.erase(rest.begin()); // the system message is counted by its parts
    out.messages = prompt::estimate_tokens(json::print(json::value(std::move(rest))));
  }
  if (auto* list = json::find(body, "tools"); list && list->is_array()) {
    out.tool_definitions = json::print(*list);
    out.tools = prompt::estimate_tokens(out.tool_definitions);
  }
  return out;
}

// A summary is the second message: a user's text that says so, or one of that role.
std::optional<std::string> summary_of(const std::vector<storage::stored_message>& messages) {
  if (messages.size() < 2) return std::nullopt;
  auto& m = *messages[1];
  auto text = text_of(m);
  if (m.role == message_role::summary) return text;
  auto packed = m.role == message_role::user ? json::try_parse(text) : std::nullopt;
  if (packed && json::string_or(*packed, "type") == "system_alert") return text;
  return std::nullopt;
}

std::string overview(const storage::reader& r, const agent& a, const storage::context_key& context,
                     timestamp now) {
  auto prompt = storage::compile_prompt(r, context, storage::prompt_time{now});
  auto messages = storage::context_messages(r, context);
  auto text = prompt ? prompt->text : std::string{};
  auto parts = prompt::split_system_message(text);
  auto sizes = measure(a, messages, storage::shared_tools_of(r, a));
  auto summary = summary_of(messages);
  auto summary_tokens = summary ? prompt::estimate_tokens(*summary) : 0;
  auto current = prompt::estimate_tokens(parts.system_prompt) + tokens_of(parts.core_memory) +
                 tokens_of(parts.tool_usage_rules) + tokens_of(parts.directories) +
                 prompt::estimate_tokens(parts.metadata) + summary_tokens + sizes.tools + sizes.messages;
  auto total = storage::activity_of(r, a.id).message_count;
  return json::object_text([&](json::object_writer& w) {
    w.add("context_window_size_max", a.llm.context_window)
        .add("context_window_size_current", current)
        .add("num_messages", messages.size());
    w.add("num_archival_memory", 0).add("num_recall_memory", total);
    w.add("num_tokens_external_memory_summary", prompt::estimate_tokens(parts.metadata))
        .add("external_memory_summary", parts.metadata);
    w.add("num_tokens_system", prompt::estimate_tokens(parts.system_prompt))
        .add("system_prompt", parts.system_prompt);
    w.add("num_tokens_core_memory", tokens_of(parts.core_memory))
        .add("core_memory", parts.core_memory.value_or(""));
    w.add("num_tokens_memory_filesystem", 0).null("memory_filesystem");
    add_section(w, "tool_usage_rules", parts.tool_usage_rules);
    add_section(w, "directories", parts.directories);
    w.add("num_tokens_summary_memory", summary_tokens).add("summary_memory", summary);
    w.add("num_tokens_functions_definitions", sizes.tools)
        .raw("functions_definitions", sizes.tool_definitions);
    w.add("num_tokens_messages", sizes.messages);
    json::write_list(w.key("messages"), messages, [](auto& out, auto& m) { json::write(out, *m); });
  });
}

struct context_parameters {
  std::optional<std::string> conversation_id;
};
BOOST_DESCRIBE_STRUCT(context_parameters, (), (conversation_id))

awaitable<outcome> context(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<context_parameters>(c);
  if (!p) co_return p.error();
  auto look = [id = *id, org = c.by.org, named = p->conversation_id,
               now = c.s.env->now()](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, id, org);
    if (!a) return no_agent(id);
    storage::context_key context{id, std::nullopt};
    if (named && *named != "default") {
      context.conversation = conversation_id::parse(*named);
      if (!context.conversation || !storage::find_conversation(r, *context.conversation, org))
        return fail(errc::not_found, "Conversation with id " + *named + " not found");
    }
    return overview(r, *a, context, now);
  };
  co_return co_await read_on_worker(c, std::move(look));
}

// -- reset ----------------------------------------------------------------------------------------
struct reset_body {
  bool add_default_initial_messages = false;
};
BOOST_DESCRIBE_STRUCT(reset_body, (), (add_default_initial_messages))

// The context goes down to its system message, made anew; what was said stays in the history.
result<std::string> reset_context(storage::transaction& t, const agent_id& id, bool initial, const actor& by,
                                  environment& env) {
  auto a = storage::find_agent(t, id, by.org);
  if (!a) return storage::not_found_for("Agent", id.str(), by);
  storage::context_key context{id, std::nullopt};
  storage::clear_context(t, context);
  storage::rebuild_system_message(t, id, storage::prompt_time{env.now()});
  auto before = *a;
  a->last_updated_by_id = by.user;
  storage::put_agent(t, *a, &before);
  auto activity = storage::activity_of(t, id);
  activity.updated_at = env.now();
  if (initial) {
    std::vector<storage::stored_message> messages;
    for (auto& m : agents::initial_messages(*a, std::nullopt, by, env))
      messages.push_back(std::make_shared<const message>(std::move(m)));
    storage::append_messages(t, messages, &context);
    activity.message_count += static_cast<std::int64_t>(messages.size());
  }
  storage::put_activity(t, id, activity);
  return storage::agent_state(t, *a, agent_relations::all());
}

awaitable<outcome> reset(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto body = body_of<reset_body>(c);
  if (!body) co_return body.error();
  auto store = [id = *id, initial = body->add_default_initial_messages, by = c.by,
                env = c.s.env](storage::transaction& t) { return reset_context(t, id, initial, by, *env); };
  co_return co_await write_between_turns(c, id->value, "agent.reset", std::move(store));
}

} // namespace

void add_agent_prompts(router& r) {
  r.add("POST", "/agents/{agent_id}/recompile", recompile);
  r.add("POST", "/agents/{agent_id}/system-prompt/recompile", recompile);
  r.add("GET", "/agents/{agent_id}/context", context);
  r.add("PATCH", "/agents/{agent_id}/reset-messages", reset);
}

} // namespace troupe::net::rest
