// The pieces of a step: its record, what the model is asked, what its calls become, how the run ends.
#include "core/base/text.hpp"
#include "core/protocol/strict_tools.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/arguments.hpp"
#include "core/turn/failure.hpp"
#include "core/turn/step_loop.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

constexpr std::string_view hidden_note = "[This is an automated system message hidden from the user] ";

// Adds two optional counters: null stays null until either knows.
void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& n) {
  if (n) sum = sum.value_or(0) + *n;
}

} // namespace

// -- the model ------------------------------------------------------------------------------------
namespace {

// What another member of a group said is told with its name; only the words are stored.
stored_message with_speaker(const stored_message& m) {
  if (!m->group || !m->sender_id || !m->name) return m;
  auto shown = *m;
  for (auto& part : shown.content)
    if (auto* t = std::get_if<text_content>(&part)) {
      t->text = *m->name + ": " + t->text;
      break;
    }
  return std::make_shared<const message>(std::move(shown));
}

} // namespace

model_request step_loop::request() const {
  model_request r;
  r.config = in_.llm;
  r.messages = context_;
  r.messages.insert(r.messages.end(), inputs_.begin(), inputs_.end());
  for (auto& m : r.messages) m = with_speaker(m);
  r.system_override = in_.request.override_system;
  if (!r.system_override && !in_.request.client_skills.empty()) {
    r.system_suffix = "\n\n<available_skills>";
    for (auto& s : in_.request.client_skills)
      r.system_suffix += "\n- " + s.name + " (" + s.location + "): " + s.description;
    r.system_suffix += "\n</available_skills>";
  }
  if (in_.part_of && !in_.part_of->extra.prompt.empty())
    r.system_suffix += "\n\n" + in_.part_of->extra.prompt;
  for (auto& name : allowed_) {
    auto t = find_tool(name);
    if (!t || !t->json_schema) continue;
    r.tools.push_back(in_.llm.strict ? strictly(offered(t)) : offered(t));
  }
  r.user = in_.acting.user.str();
  r.stream = in_.tokens;
  r.response_format = in_.llm.response_format;
  shape(r);
  return r;
}

std::optional<json::value> step_loop::last_tool_output() const {
  for (auto it = context_.rbegin(); it != context_.rend(); ++it) {
    if ((*it)->role != message_role::tool || (*it)->content.size() != 1) continue;
    auto* text = std::get_if<text_content>((*it)->content.data());
    auto v = text ? json::try_parse(text->text) : std::nullopt;
    auto* output = v ? json::find(*v, "message") : nullptr;
    if (output) return *output;
  }
  return std::nullopt;
}

// -- the record -----------------------------------------------------------------------------------
void step_loop::begin_step_record() {
  auto& c = in_.llm;
  step s;
  s.id = env_.make_id<step_id>();
  s.organization_id = in_.self.organization_id;
  s.run = in_.run;
  s.agent = in_.self.id;
  s.provider_name = c.provider_name ? c.provider_name : std::optional<std::string>(c.model_endpoint_type);
  s.provider_category_ = std::string(json::enum_text(c.provider_category_.value_or(provider_category::base)));
  s.model = c.model;
  s.model_handle = c.handle;
  s.model_endpoint = c.model_endpoint;
  s.context_window_limit = c.context_window;
  s.project_id = in_.self.project_id;
  s.created_at = env_.now();
  step_ = std::move(s);
  step_started_ns_ = env_.monotonic_ns();
  reply_id_ = env_.make_id<message_id>();
}

void step_loop::count_usage(token_usage u, std::int64_t duration_ns) {
  ++calls_of_model_;
  if (!in_.tokens) { // the original's adapter for whole replies makes zeros of what nobody reported
    u.cached_input = u.cached_input.value_or(0);
    u.cache_write = u.cache_write.value_or(0);
    u.reasoning = u.reasoning.value_or(0);
  }
  total_.prompt += u.prompt;
  total_.completion += u.completion;
  total_.total += u.total;
  add(total_.cached_input, u.cached_input);
  add(total_.cache_write, u.cache_write);
  add(total_.reasoning, u.reasoning);
  last_tokens_ = u.total;
  if (counts_context()) context_tokens_ = u.total;
  auto& s = *step_;
  s.prompt_tokens = u.prompt;
  s.completion_tokens = u.completion;
  s.total_tokens = u.total;
  auto positive = [](const std::optional<std::int64_t>& n) { return n.value_or(0) > 0 ? n : std::nullopt; };
  s.cached_input_tokens = positive(u.cached_input);
  s.cache_write_tokens = positive(u.cache_write);
  s.reasoning_tokens = positive(u.reasoning);
  if (u.reasoning) {
    s.completion_tokens_details.emplace();
    (*s.completion_tokens_details)["reasoning_tokens"] = *u.reasoning;
  }
  if (u.cached_input || u.cache_write) {
    auto& d = s.prompt_tokens_details.emplace();
    d["cached_tokens"] = u.cached_input.value_or(0);
    d["cache_read_tokens"] = u.cached_input.value_or(0);
    d["cache_creation_tokens"] = u.cache_write.value_or(0);
  }
  s.llm_request_ns = duration_ns;
}

usage_statistics step_loop::usage() const {
  usage_statistics u;
  u.completion_tokens = total_.completion;
  u.prompt_tokens = total_.prompt;
  u.total_tokens = total_.total;
  u.step_count = calls_of_model_;
  u.cached_input_tokens = total_.cached_input;
  u.cache_write_tokens = total_.cache_write;
  u.reasoning_tokens = total_.reasoning;
  u.context_tokens = context_tokens_;
  u.run_ids = background_runs_;
  return u;
}

void step_loop::close_failed_step() {
  step_->status = failure_ ? step_status::failed : step_status::cancelled;
  step_->step_ns = env_.monotonic_ns() - step_started_ns_;
  step_->stop_reason_ = failure_ ? std::optional(shape_of(*failure_, visible_).reason) : stop_;
  if (!failure_) return;
  auto kind = std::string(llm_error_class(*failure_));
  step_->error_type = kind;
  step_->error_data = step_error{failure_->message, kind + ": " + failure_->message, std::nullopt};
}

// What the run ends as, which depends on how it was asked for (reference: agent-loop §6.2).
run_end step_loop::make_end() const {
  run_end end;
  if (!failure_) {
    end.reason = stop_;
    end.status = status_for(stop_.value_or(stop_reason::end_turn));
    bool completes = in_.how == mode::stream || in_.how == mode::async;
    if (completes && end.status == run_status::failed) end.status = run_status::completed;
    return end;
  }
  bool late = visible_ && !says_why_late();
  auto shape = shape_of(*failure_, late);
  if (in_.how == mode::stream &&
      late) { // what its client has read is its answer (reference: agent-loop §6.2)
    end.status = run_status::completed;
    end.reason = shape.reason;
    return end;
  }
  end.status = run_status::failed;
  end.metadata["error"] = boost::json::string(failure_->message);
  if (in_.how == mode::async) end.reason = stop_reason::error;
  if (has_events(in_.how)) {
    end.reason = shape.reason;
    end.metadata["error"] = error_message(in_.run, shape);
  }
  return end;
}

// -- calls ----------------------------------------------------------------------------------------
// The rules' own arguments go over the model's, where they suit the tool.
void step_loop::fill_in(planned& p, const shared_tool& t) const {
  if (!takes_prefilled()) return;
  auto fixed = rules_.prefilled(t->name, allowed_);
  if (fixed.values.empty()) return;
  auto wrong = check_prefilled(t->name, fixed.values, *offered(t).parameters);
  p.invalid = !wrong.empty();
  if (!p.invalid) {
    for (auto& [key, v] : fixed.values) p.invocation.arguments[key] = v;
    return;
  }
  tools::tool_result refused;
  refused.status = return_status::error;
  refused.returned =
      boost::json::string("Invalid prefilled tool arguments from tool rules (source=" + fixed.source +
                          "): " + text::join(wrong, "; "));
  p.result = std::move(refused);
}

void step_loop::plan(const tool_call& call) {
  planned p;
  p.invocation.call = call;
  p.invocation.arguments = parse_arguments(call.arguments);
  auto t = find_tool(call.name);
  if (std::find(allowed_.begin(), allowed_.end(), call.name) == allowed_.end()) {
    p.violates = true;
    p.result = refusal(call.name);
  } else if (t) {
    p.invocation.id = t->id;
    fill_in(p, t);
  }
  p.invocation.call.arguments = json::print_python(json::value(p.invocation.arguments));
  planned_.push_back(std::move(p));
}

void step_loop::plan_unchecked(const tool_call& call) {
  planned p;
  p.invocation.call = call;
  p.invocation.arguments = parse_arguments(call.arguments);
  if (auto t = find_tool(call.name)) {
    p.invocation.id = t->id;
    fill_in(p, t);
  } else {
    p.result = tools::failed(call.name, tools::value_error("Tool not found"));
  }
  planned_.push_back(std::move(p));
}

tools::tool_result step_loop::refusal(const std::string& name) const {
  json::array valid;
  for (auto& n : allowed_)
    if (!is_client_tool(n)) valid.emplace_back(boost::json::string(n));
  for (auto& t : in_.request.client_tools) valid.emplace_back(boost::json::string(t.name));
  auto text = "[ToolConstraintError] Cannot call " + name +
              ", valid tools include: " + json::python_repr(json::value(std::move(valid))) + ".";
  if (auto hints = rules_.hints(name); !hints.empty()) {
    text += "\n** Hint: Possible rules that were violated:";
    for (auto& h : hints) text += "\n\t- " + h;
  }
  tools::tool_result r;
  r.status = return_status::error;
  r.returned = boost::json::string(text);
  return r;
}

tool_return step_loop::returned(const planned& p, timestamp now) const {
  auto t = find_tool(p.invocation.call.name);
  return tools::make_return(p.invocation.call, *p.result, t ? t->return_char_limit : 50000, now,
                            in_.self.timezone);
}

// In a group everybody's words carry their name.
message step_loop::fresh_message(message_role role) const {
  auto m = new_message(in_, role, env_);
  if (role == message_role::assistant && m.group) m.name = in_.self.name;
  return m;
}

message step_loop::heartbeat(const std::string& reason) const {
  auto m = fresh_message(message_role::user);
  json::object packed;
  packed["type"] = "heartbeat";
  packed["reason"] = boost::json::string(std::string(hidden_note) + reason);
  packed["time"] = boost::json::string(format_prompt_time(m.created_at, in_.self.timezone));
  m.content.emplace_back(text_content{json::print_packed(json::value(std::move(packed))), std::nullopt});
  return m;
}

// -- tools ----------------------------------------------------------------------------------------
std::vector<std::string> step_loop::attached_names() const {
  std::vector<std::string> out;
  for (auto& t : in_.tools) out.push_back(t->name);
  return out;
}

shared_tool step_loop::find_tool(const std::string& name) const {
  auto it = std::find_if(in_.tools.begin(), in_.tools.end(), [&](auto& t) { return t->name == name; });
  return it == in_.tools.end() ? nullptr : *it;
}

bool step_loop::waits_for_giver(const std::string& name) const {
  return in_.part_of && !in_.part_of->extra.answer && in_.part_of->extra.has_tool(name);
}

bool step_loop::is_client_tool(const std::string& name) const {
  auto& list = in_.request.client_tools;
  return std::any_of(list.begin(), list.end(), [&](auto& t) { return t.name == name; });
}

} // namespace troupe::turn
