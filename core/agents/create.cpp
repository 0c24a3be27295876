#include "core/agents/create.hpp"

#include "core/agents/reasoning.hpp"
#include "core/json/writer.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>

namespace troupe::agents {

namespace {

template <class T> void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::vector<secret> make_secrets(const create_agent& request, environment& env) {
  std::vector<secret> out;
  bool named = request.secrets && !request.secrets->empty();
  auto& given = named ? request.secrets : request.tool_exec_environment_variables;
  for (auto& [key, value] : given.value_or(json::dictionary<std::string>{})) {
    auto it = std::find_if(out.begin(), out.end(), [&, &k = key](auto& s) { return s.key == k; });
    if (it != out.end())
      it->value = value;
    else
      out.push_back({env.make_id<secret_id>(), key, value, std::nullopt});
  }
  return out;
}

// The budget counts only where the configuration is made here.
std::optional<error> check_budget(const create_agent& request) {
  if (request.llm_config_ || !request.max_reasoning_tokens) return std::nullopt;
  auto most = request.max_tokens.value_or(0);
  if (most != 0 && *request.max_reasoning_tokens <= most) return std::nullopt;
  auto shown = request.max_tokens ? std::to_string(most) : "None";
  return invalid_argument("Max reasoning tokens (" + std::to_string(*request.max_reasoning_tokens) +
                          ") must be less than max tokens (" + shown + ")");
}

} // namespace

std::optional<error> check_model_handle(const std::optional<std::string>& model) {
  if (!model || is_handle(*model)) return std::nullopt;
  return invalid_argument("The model handle should be in the format provider/model-name");
}

std::optional<error> check_file_limits(const std::optional<std::int64_t>& files,
                                       const std::optional<std::int64_t>& view_chars) {
  if (files.value_or(0) > 1000)
    return invalid_argument("max_files_open cannot exceed 1000. Got: " + std::to_string(*files));
  if (view_chars.value_or(0) > 2147483647)
    return invalid_argument("per_file_view_window_char_limit cannot exceed 2147483647. Got: " +
                            std::to_string(*view_chars));
  return std::nullopt;
}

std::optional<error> check(const create_agent& request) {
  if (request.name && !request.name->empty() && !is_valid_name(*request.name))
    return invalid_argument("Agent name '" + *request.name +
                            "' holds characters that are not allowed: letters, digits, underscores, spaces, "
                            "apostrophes and hyphens are");
  if (auto wrong = check_model_handle(request.model)) return wrong;
  if (request.agent_type_ == agent_type::split_thread_agent && !request.system)
    return fail(errc::invalid_argument, "Invalid agent type: AgentType.split_thread_agent");
  if (auto wrong = check_file_limits(request.max_files_open, request.per_file_view_window_char_limit))
    return wrong;
  if (auto wrong = check_budget(request)) return wrong;
  if (request.timezone && !is_time_zone(*request.timezone))
    return invalid_argument("Unknown time zone: " + *request.timezone);
  return std::nullopt;
}

llm_config configure(const create_agent& request, const resolved_models& models) {
  auto c = models.llm;
  if (!request.llm_config_) {
    if (request.context_window_limit) c.context_window = *request.context_window_limit;
    if (request.max_tokens) c.max_tokens = request.max_tokens;
    if (request.max_reasoning_tokens) c.max_reasoning_tokens = *request.max_reasoning_tokens;
    if (request.enable_reasoner) c.enable_reasoner = *request.enable_reasoner;
  }
  if (request.model_settings_) apply_settings(c, *request.model_settings_);
  if (request.parallel_tool_calls) c.parallel_tool_calls = request.parallel_tool_calls;
  bool thinks = c.enable_reasoner || c.put_inner_thoughts_in_kwargs.value_or(false);
  bool reasoning = request.reasoning.value_or(thinks);
  normalise_reasoning(c, reasoning, request.agent_type_);
  return c;
}

std::vector<std::string> wanted_tool_names(const create_agent& request) {
  std::vector<std::string> out = request.tools.value_or(std::vector<std::string>{});
  if (request.include_base_tools)
    for (auto& name : base_tool_names(request.agent_type_, request.enable_sleeptime.value_or(false)))
      add_once(out, name);
  if (request.include_multi_agent_tools)
    for (auto& name : multi_agent_tool_names()) add_once(out, name);
  return out;
}

namespace {

message initial(const agent& a, message_role role, const actor& by, environment& env) {
  message m;
  m.created_by_id = m.last_updated_by_id = by.user;
  m.created_at = m.updated_at = env.now();
  m.id = env.make_id<message_id>();
  m.agent = a.id;
  m.model = a.llm.model;
  m.role = role;
  m.organization_id = a.organization_id;
  return m;
}

} // namespace

message system_message(const agent& a, const std::vector<block>& blocks, const actor& by, environment& env,
                       const std::optional<conversation_id>& conversation) {
  auto m = initial(a, message_role::system, by, env);
  m.conversation = conversation;
  m.content.emplace_back(
      text_content{prompt::compile_system_message(a, blocks, {}, m.created_at, conversation), std::nullopt});
  return m;
}

namespace {

message packed_message(const agent& a, message_role role, const std::optional<std::string>& name,
                       std::initializer_list<std::pair<const char*, std::string>> members, const actor& by,
                       environment& env) {
  auto m = initial(a, role, by, env);
  m.name = name;
  json::object o;
  for (auto& [key, value] : members) o[key] = boost::json::string(value);
  o["time"] = boost::json::string(format_prompt_time(m.created_at, a.timezone));
  m.content.emplace_back(text_content{json::print_packed(json::value(std::move(o))), std::nullopt});
  return m;
}

// The assistant's own words as older loops store them: a call of send_message and its result.
void add_said(std::vector<message>& out, const agent& a, const std::optional<std::string>& name,
              const std::string& text, const std::string& thought, const actor& by, environment& env) {
  auto said = initial(a, message_role::assistant, by, env);
  said.name = name;
  if (!thought.empty()) said.content.emplace_back(text_content{thought, std::nullopt});
  auto id = env.random_uuid().str();
  if (a.llm.model_endpoint_type == "openai" && a.llm.provider_name == "lmstudio_openai") id.resize(9);
  json::object args;
  args["message"] = boost::json::string(text);
  said.tool_calls.push_back({id, "send_message", json::print_python(json::value(std::move(args)))});
  auto returned = initial(a, message_role::tool, by, env);
  json::object o;
  o["status"] = "OK";
  o["message"] = nullptr;
  o["time"] = boost::json::string(format_prompt_time(returned.created_at, a.timezone));
  auto packed = json::print_packed(json::value(std::move(o)));
  returned.content.emplace_back(text_content{packed, std::nullopt});
  returned.name = name.value_or("send_message");
  returned.tool_call_id = id;
  tool_return r;
  r.tool_call_id = id;
  r.func_response = packed;
  returned.tool_returns.push_back(std::move(r));
  out.push_back(std::move(said));
  out.push_back(std::move(returned));
}

} // namespace

std::vector<message> initial_messages(const agent& a,
                                      const std::optional<std::vector<initial_message>>& sequence,
                                      const actor& by, environment& env) {
  std::vector<message> out;
  if (!sequence) {
    if (a.type == agent_type::letta_v1_agent) return out;
    if (a.type != agent_type::sleeptime_agent)
      add_said(out, a, std::nullopt, "More human than human is our motto.",
               "Bootup sequence complete. Persona activated. Testing messaging functionality.", by, env);
    out.push_back(packed_message(a, message_role::user, std::nullopt,
                                 {{"type", "login"}, {"last_login", "Never (first login)"}}, by, env));
    return out;
  }
  for (auto& given : *sequence) {
    if (given.role == message_role::assistant)
      add_said(out, a, given.name, given.content, {}, by, env);
    else
      out.push_back(
          packed_message(a, given.role, given.name,
                         {{"type", given.role == message_role::user ? "user_message" : "system_alert"},
                          {"message", given.content}},
                         by, env));
  }
  return out;
}

namespace {

agent base_record(const create_agent& q, const llm_config& llm, const actor& by, environment& env) {
  agent a;
  a.id = env.make_id<agent_id>();
  a.organization_id = by.org;
  a.created_by_id = a.last_updated_by_id = by.user;
  a.created_at = env.now();
  a.name = q.name ? *q.name : random_name(env);
  a.type = q.agent_type_;
  a.system = q.system ? *q.system : std::string(prompt::default_system(q.agent_type_).value_or(""));
  a.llm = llm;
  a.description = q.description;
  a.metadata = q.metadata;
  for (auto& t : q.tags.value_or(std::vector<std::string>{})) add_once(a.tags, t);
  a.secrets = make_secrets(q, env);
  a.template_id = q.template_id;
  a.base_template_id = q.base_template_id;
  a.identity_ids = q.identity_ids.value_or(std::vector<identity_id>{});
  a.message_buffer_autoclear = q.message_buffer_autoclear || q.agent_type_ == agent_type::workflow_agent;
  a.enable_sleeptime = q.enable_sleeptime;
  if (q.response_format_) a.response_format = q.response_format_->value;
  a.timezone = q.timezone.value_or("UTC");
  a.max_files_open = q.max_files_open;
  a.per_file_view_window_char_limit = q.per_file_view_window_char_limit;
  a.hidden = q.hidden;
  if (std::find(a.tags.begin(), a.tags.end(), "role:subagent") != a.tags.end()) a.hidden = true;
  return a;
}

// Companions that come with their tools begin with nothing said.
std::optional<std::vector<initial_message>> first_messages(const create_agent& q) {
  bool companion =
      q.agent_type_ == agent_type::sleeptime_agent || q.agent_type_ == agent_type::voice_sleeptime_agent;
  if (!q.initial_message_sequence && q.include_base_tools && companion) return std::vector<initial_message>{};
  return q.initial_message_sequence;
}

result<compaction_settings> first_compaction(const create_agent& q, const llm_config& llm) {
  auto defaults = default_compaction(llm);
  auto out = merge_compaction(defaults, q.compaction_settings_.value_or(json::object{}));
  if (!out) return out;
  if (!out->model) out->model = defaults.model;
  if (!out->prompt) out->prompt = std::string(prompt::compaction_prompt(out->mode));
  return out;
}

std::vector<tool_rule> rules_for(const create_agent& q, const std::vector<tool>& tools,
                                 const std::string& model) {
  auto rules = q.tool_rules.value_or(std::vector<tool_rule>{});
  if (wants_base_rules(q, model))
    for (auto& t : tools)
      if (auto rule = base_rule(t.name, t.tool_type_)) rules.push_back(*rule);
  for (auto& t : tools)
    if (t.default_requires_approval.value_or(false))
      rules.push_back(make_rule(tool_rule_type::requires_approval, t.name));
  return rules;
}

std::optional<error> check_rules(const std::vector<tool_rule>& rules, const std::string& model) {
  auto distinct = deduplicated(rules);
  auto first = std::count_if(distinct.begin(), distinct.end(),
                             [](auto& r) { return r.type == tool_rule_type::run_first; });
  if (first > 1 && model != "gpt-4o" && model != "gpt-4o-mini")
    return fail(errc::invalid_argument, "Multiple initial tools are not supported for non-structured models. "
                                        "Please use only one initial tool rule.");
  return std::nullopt;
}

} // namespace

result<new_agent> make_agent(const create_agent& request, const llm_config& llm,
                             const std::optional<embedding_config>& embedding, const std::vector<tool>& tools,
                             const std::vector<block>& attached, const actor& by,
                             const std::optional<std::string>& project, environment& env) {
  new_agent out;
  auto& a = out.record;
  a = base_record(request, llm, by, env);
  a.embedding = embedding;
  a.project_id = project;
  auto compaction = first_compaction(request, llm);
  if (!compaction) return compaction.error();
  a.compaction = std::move(*compaction);
  a.tool_rules = rules_for(request, tools, llm.model);
  if (auto wrong = check_rules(a.tool_rules, llm.model)) return *wrong;
  for (auto& t : tools) a.tool_ids.push_back(t.id);
  std::vector<block> blocks;
  auto label_taken = [&](const std::string& label) {
    return std::any_of(blocks.begin(), blocks.end(), [&](auto& b) { return b.label == label; });
  };
  // The later block of a label is left out without a word, as clients are used to.
  for (auto& b : request.memory_blocks.value_or(std::vector<create_block>{})) {
    if (label_taken(b.label)) continue;
    auto made = make_block(b, by.org, env);
    if (!made.description) made.description = default_block_description(made.label);
    out.blocks.push_back(made);
    blocks.push_back(std::move(made));
  }
  for (auto& b : attached)
    if (!label_taken(b.label)) blocks.push_back(b);
  for (auto& b : blocks) a.block_ids.push_back(b.id);
  out.messages.push_back(system_message(a, blocks, by, env));
  for (auto& m : initial_messages(a, first_messages(request), by, env)) out.messages.push_back(std::move(m));
  return out;
}

} // namespace troupe::agents
