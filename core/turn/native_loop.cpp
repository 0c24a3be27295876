#include "core/turn/native_loop.hpp"

#include "core/base/text.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/arguments.hpp"
#include "core/turn/failure.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

constexpr int max_conflicts = 5; // times that tools run again because a block moved on under them
constexpr std::string_view hidden_note = "[This is an automated system message hidden from the user] ";

bool is_empty_text(const content_part& p) {
  auto* t = std::get_if<text_content>(&p);
  return t && t->text.empty() && !t->signature;
}

// Adds two optional counters: null stays null until either knows.
void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& n) {
  if (n) sum = sum.value_or(0) + *n;
}

} // namespace

native_loop::native_loop(input in, environment& env)
    : in_(std::move(in)), env_(env), rules_(in_.self.tool_rules), context_(in_.in_context) {
  if (in_.self.message_buffer_autoclear && context_.size() > 1) context_.resize(1);
}

effects native_loop::handle(event e) {
  if (phase_ == phase::finished) return {};
  return std::visit([this](auto&& x) { return on(std::forward<decltype(x)>(x)); }, std::move(e));
}

// -- the beginning --------------------------------------------------------------------------------
effects native_loop::on(started) {
  if (context_.empty())
    return end_now(std::nullopt, fail(errc::internal, "Agent has no in-context messages"));
  auto prepared = prepare(in_, env_);
  if (!prepared) return end_now(std::nullopt, prepared.error());
  inputs_ = std::move(prepared->messages);
  approval_ = std::move(prepared->approval);
  if (in_.request.max_steps <= 0) return end_now(stop_reason::end_turn, std::nullopt);
  if (approval_) return resume_from_approval();
  return begin_step();
}

effects native_loop::begin_step() {
  if (cancelled_) return end_now(stop_reason::cancelled, std::nullopt);
  allowed_ = rules_.allowed(attached_names(), last_tool_output());
  begin_step_record();
  phase_ = phase::calling_model;
  project::chunk_target chunks;
  chunks.id = reply_id_;
  chunks.step = step_->id;
  chunks.run = in_.run;
  chunks.types = in_.request.include_return_message_types;
  for (auto& name : attached_names())
    if (is_gated(name)) chunks.gated.push_back(name);
  for (auto& t : in_.request.client_tools) chunks.gated.push_back(t.name);
  effects out;
  out.emplace_back(call_model{make_request(), std::move(chunks)});
  return out;
}

void native_loop::begin_step_record() {
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

model_request native_loop::make_request() {
  model_request r;
  r.config = in_.llm;
  r.messages = context_;
  r.messages.insert(r.messages.end(), inputs_.begin(), inputs_.end());
  r.system_override = in_.request.override_system;
  if (!r.system_override && !in_.request.client_skills.empty()) {
    r.system_suffix = "\n\n<available_skills>";
    for (auto& s : in_.request.client_skills)
      r.system_suffix += "\n- " + s.name + " (" + s.location + "): " + s.description;
    r.system_suffix += "\n</available_skills>";
  }
  r.tools = offer_tools(allowed_);
  bool must = rules_.must_call();
  r.choice.what = must ? tool_choice::kind::required : tool_choice::kind::automatic;
  if (must && allowed_.size() == 1) r.choice = {tool_choice::kind::named, allowed_[0]};
  r.parallel_tool_calls = in_.llm.parallel_tool_calls.value_or(false) && !rules_.constrains();
  r.user = in_.acting.user.str();
  r.stream = in_.tokens;
  r.response_format = in_.llm.response_format;
  return r;
}

std::vector<offered_tool> native_loop::offer_tools(const std::vector<std::string>& allowed) const {
  std::vector<offered_tool> out;
  for (auto& name : allowed) {
    auto* t = find_tool(name);
    if (!t || !t->json_schema || is_client_tool(name)) continue;
    offered_tool o{name, std::string(json::string_or(*t->json_schema, "description")), {}};
    if (auto* p = json::find(*t->json_schema, "parameters"); p && p->is_object())
      o.parameters = p->get_object();
    out.push_back(std::move(o));
  }
  for (auto& t : in_.request.client_tools) {
    json::object none;
    none["type"] = "object";
    none["properties"] = json::object{};
    out.push_back({t.name, t.description.value_or(""), t.parameters.value_or(none)});
  }
  return out;
}

// -- the reply ------------------------------------------------------------------------------------
effects native_loop::on(model_replied e) {
  if (phase_ != phase::calling_model) return {};
  count_usage(e.reply.usage, e.duration_ns);
  std::erase_if(e.reply.content, is_empty_text);
  if (e.reply.calls.size() > 1 && !in_.llm.parallel_tool_calls.value_or(false)) e.reply.calls.resize(1);
  for (auto& call : e.reply.calls)
    if (call.id.empty()) call.id = "call_" + env_.random_uuid().str().substr(0, 8);
  if (e.reply.calls.empty()) return store_text(std::move(e.reply));
  std::vector<bool> gated;
  for (auto& call : e.reply.calls) gated.push_back(is_gated(call.name) || is_client_tool(call.name));
  if (std::find(gated.begin(), gated.end(), true) != gated.end())
    return store_suspension(std::move(e.reply), gated);
  return plan_calls(std::move(e.reply));
}

void native_loop::count_usage(const token_usage& u, std::int64_t duration_ns) {
  ++calls_of_model_;
  auto cached = u.cached_input, written = u.cache_write, reasoning = u.reasoning;
  if (!in_.tokens) { // the original's adapter for whole replies makes zeros of what nobody reported
    cached = cached.value_or(0);
    written = written.value_or(0);
    reasoning = reasoning.value_or(0);
  }
  total_.prompt += u.prompt;
  total_.completion += u.completion;
  total_.total += u.total;
  add(total_.cached_input, cached);
  add(total_.cache_write, written);
  add(total_.reasoning, reasoning);
  context_tokens_ = u.total;
  auto& s = *step_;
  s.prompt_tokens = u.prompt;
  s.completion_tokens = u.completion;
  s.total_tokens = u.total;
  auto positive = [](const std::optional<std::int64_t>& n) { return n.value_or(0) > 0 ? n : std::nullopt; };
  s.cached_input_tokens = positive(cached);
  s.cache_write_tokens = positive(written);
  s.reasoning_tokens = positive(reasoning);
  if (reasoning) {
    s.completion_tokens_details.emplace();
    (*s.completion_tokens_details)["reasoning_tokens"] = *reasoning;
  }
  if (cached || written) {
    auto& d = s.prompt_tokens_details.emplace();
    d["cached_tokens"] = cached.value_or(0);
    d["cache_read_tokens"] = cached.value_or(0);
    d["cache_creation_tokens"] = written.value_or(0);
  }
  s.llm_request_ns = duration_ns;
}

effects native_loop::store_text(model_reply reply) {
  std::vector<message> fresh;
  bool said = !reply.content.empty();
  if (said) {
    auto m = fresh_message(message_role::assistant);
    m.id = reply_id_;
    m.content = std::move(reply.content);
    fresh.push_back(std::move(m));
  }
  auto uncalled = rules_.uncalled_required(attached_names());
  go_on_ = !uncalled.empty();
  if (go_on_) {
    stop_.reset();
    fresh.push_back(heartbeat(std::string(hidden_note) + "ToolRuleViolated: You must call " +
                              text::join(uncalled, ", ") + " at least once to exit the loop."));
  } else {
    bool cut = said && reply.finish_reason == "length" && !in_.tokens;
    stop_ = cut ? stop_reason::max_tokens_exceeded : stop_reason::end_turn;
  }
  return commit_step(std::move(fresh));
}

// A reply with a call that waits for somebody: nothing of it runs. What is not gated goes into an assistant message,
// the rest into a request for approval.
effects native_loop::store_suspension(model_reply reply, const std::vector<bool>& gated) {
  std::vector<message> fresh;
  auto request = fresh_message(message_role::approval);
  auto rest = fresh_message(message_role::assistant);
  rest.id = reply_id_;
  request.id = in_.tokens ? project::approval_id_for(reply_id_) : env_.make_id<message_id>();
  for (std::size_t i = 0; i < reply.calls.size(); ++i)
    (gated[i] ? request : rest).tool_calls.push_back(reply.calls[i]);
  (rest.tool_calls.empty() ? request : rest).content = std::move(reply.content);
  request.otid = request.id.str();
  request.tool_call_id = request.tool_calls.front().id;
  if (!rest.tool_calls.empty()) fresh.push_back(std::move(rest));
  fresh.push_back(std::move(request));
  go_on_ = false;
  stop_ = stop_reason::requires_approval;
  return commit_step(std::move(fresh));
}

effects native_loop::plan_calls(model_reply reply) {
  planned_.clear();
  planned_content_ = std::move(reply.content);
  stop_.reset();
  for (auto& call : reply.calls) {
    planned p;
    p.invocation.call = call;
    p.invocation.arguments = parse_arguments(call.arguments);
    auto* t = find_tool(call.name);
    if (std::find(allowed_.begin(), allowed_.end(), call.name) == allowed_.end()) {
      p.violates = true;
      p.result = refusal(call.name);
    } else if (t) {
      p.invocation.id = t->id;
      auto fixed = rules_.prefilled(call.name, allowed_);
      auto* parameters = t->json_schema ? json::find(*t->json_schema, "parameters") : nullptr;
      auto wrong = check_prefilled(fixed, parameters && parameters->is_object() ? parameters->get_object()
                                                                                : json::object{});
      if (!wrong.empty()) {
        p.result = tools::failed(call.name, tools::value_error(text::join(wrong, "; ")));
        stop_ = stop_reason::invalid_tool_call;
      }
      for (auto& [key, v] : fixed) p.invocation.arguments[key] = v;
    }
    p.invocation.call.arguments = json::print_python(json::value(p.invocation.arguments));
    planned_.push_back(std::move(p));
  }
  return run_planned();
}

tools::tool_result native_loop::refusal(const std::string& name) const {
  json::array valid;
  for (auto& n : allowed_) valid.emplace_back(boost::json::string(n));
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

effects native_loop::run_planned() {
  run_tools run;
  for (auto& p : planned_)
    if (!p.result) run.calls.push_back(p.invocation);
  if (run.calls.empty()) return store_results();
  phase_ = phase::running_tools;
  effects out;
  out.emplace_back(std::move(run));
  return out;
}

// -- tools ----------------------------------------------------------------------------------------
effects native_loop::on(tools_finished e) {
  if (phase_ != phase::running_tools) return {};
  for (auto& o : e.outcomes)
    for (auto& p : planned_)
      if (p.invocation.call.id == o.call_id && !p.result) {
        p.result = std::move(o.result);
        break;
      }
  edits_ = std::move(e.edits);
  step_->tool_execution_ns = e.duration_ns;
  return store_results();
}

effects native_loop::store_results() {
  std::vector<message> fresh;
  auto called = fresh_message(message_role::assistant);
  called.id = reply_id_;
  called.content = planned_content_;
  auto returned = fresh_message(message_role::tool);
  returned.tool_returns = earlier_returns_;
  step_tools_used_.clear();
  for (auto& p : planned_) {
    called.tool_calls.push_back(p.invocation.call);
    auto* t = find_tool(p.invocation.call.name);
    auto limit = t ? t->return_char_limit : 50000;
    returned.tool_returns.push_back(
        tools::make_return(p.invocation.call, *p.result, limit, returned.created_at, in_.self.timezone));
    returned.content.emplace_back(
        text_content{std::get<std::string>(returned.tool_returns.back().func_response), std::nullopt});
    if (t && !p.violates) step_tools_used_.push_back(t->id);
  }
  if (!planned_.empty()) returned.name = planned_.front().invocation.call.name;
  if (!returned.tool_returns.empty()) returned.tool_call_id = returned.tool_returns.front().tool_call_id;
  decide_after_calls();
  if (!resumed_) fresh.push_back(std::move(called)); // a resumed reply is stored already
  fresh.push_back(std::move(returned));
  return commit_step(std::move(fresh));
}

// Any call continues, failed or not, but for tools that end the turn; several at once always continue unless one of
// them ends it. Denials and returns of clients force it on.
void native_loop::decide_after_calls() {
  if (stop_ == stop_reason::invalid_tool_call) {
    go_on_ = false;
    return;
  }
  bool ends = false;
  for (auto& p : planned_) {
    if (p.violates) continue;
    rules_.called(p.invocation.call.name);
    ends |= rules_.ends_turn(p.invocation.call.name);
  }
  bool forced = !earlier_returns_.empty();
  bool missing = !rules_.uncalled_required(attached_names()).empty();
  go_on_ = !ends || missing || forced;
  stop_.reset();
  if (!go_on_) stop_ = stop_reason::tool_rule;
}

// -- approvals ------------------------------------------------------------------------------------
// The step that a request for approval interrupted goes on: no call of the model, the same step id.
effects native_loop::resume_from_approval() {
  auto& request = *context_.back();
  auto* siblings = context_.size() > 1 ? context_[context_.size() - 2].get() : nullptr;
  bool has_siblings = siblings && siblings->role == message_role::assistant &&
                      !siblings->tool_calls.empty() && siblings->step == request.step;
  step_.reset();
  resumed_ = true;
  planned_.clear();
  earlier_returns_.clear();
  std::vector<tool_return> denied;
  auto plan = [&](const tool_call& call) {
    planned p;
    p.invocation.call = call;
    p.invocation.arguments = parse_arguments(call.arguments);
    if (auto* t = find_tool(call.name))
      p.invocation.id = t->id;
    else
      p.result = tools::failed(call.name, tools::value_error("Tool not found"));
    planned_.push_back(std::move(p));
  };
  for (auto& call : request.tool_calls) {
    auto it = std::find_if(approval_->approvals.begin(), approval_->approvals.end(),
                           [&](auto& a) { return is_about(a, call, request); });
    if (it == approval_->approvals.end()) continue;
    if (it->is_return) {
      auto r = it->returned;
      if (auto* text = std::get_if<std::string>(&r.func_response)) {
        tools::tool_result result{r.status, boost::json::string(*text), r.stdout_, r.stderr_};
        auto limit = std::max<std::int64_t>(
            5000, static_cast<std::int64_t>(static_cast<double>(in_.llm.context_window) * 0.8));
        r = tools::make_return(call, result, limit, env_.now(), in_.self.timezone);
      }
      earlier_returns_.push_back(std::move(r));
    } else if (it->approve) {
      plan(call);
    } else {
      tools::tool_result result;
      result.status = return_status::error;
      result.returned = boost::json::string("Error: request to call tool denied. User reason: " +
                                            it->reason.value_or("None"));
      denied.push_back(tools::make_return(call, result, 50000, env_.now(), in_.self.timezone));
    }
  }
  earlier_returns_.insert(earlier_returns_.end(), denied.begin(), denied.end());
  if (has_siblings)
    for (auto& call : siblings->tool_calls) plan(call);
  if (planned_.empty() && earlier_returns_.empty())
    return end_now(stop_reason::invalid_tool_call, std::nullopt);
  if (planned_.empty()) return store_results();
  return run_planned();
}

// -- the batch ------------------------------------------------------------------------------------
effects native_loop::commit_step(std::vector<message> fresh) {
  ++steps_;
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.run = in_.run;
  batch.autoclear = first_commit_ && in_.self.message_buffer_autoclear;
  auto step = step_ ? std::optional<step_id>(step_->id) : std::nullopt;
  if (resumed_) step = context_.back()->step;
  uncommitted_.clear();
  to_emit_.clear();
  auto append = [&](message m, bool show) {
    m.step = step;
    m.model = m.model ? m.model : std::optional<std::string>(in_.llm.model);
    uncommitted_.push_back(std::make_shared<const message>(std::move(m)));
    if (show) to_emit_.push_back(uncommitted_.back());
  };
  bool takes_inputs = !approval_;
  if (approval_) append(std::move(*approval_), false);
  if (takes_inputs)
    for (auto& m : inputs_) append(*m, false);
  for (auto& m : fresh) append(std::move(m), true);
  approval_.reset();
  if (takes_inputs) inputs_.clear();
  batch.messages = uncommitted_;
  batch.edits = edits_;
  batch.tools_used = step_tools_used_;
  batch.started = first_commit_;
  bool last = !go_on_ || iteration_ + 1 >= in_.request.max_steps || cancelled_;
  if (last && !stop_)
    stop_ = cancelled_ ? stop_reason::cancelled : go_on_ ? stop_reason::max_steps : stop_reason::end_turn;
  if (step_) {
    step_->status = step_status::success;
    step_->step_ns = env_.monotonic_ns() - step_started_ns_;
    if (last) step_->stop_reason_ = stop_;
    batch.step_ = step_;
  }
  if (last) {
    batch.end = make_end();
    batch.last_stop_reason = stop_;
    go_on_ = false;
  }
  phase_ = phase::committing;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

effects native_loop::on(committed) {
  if (phase_ != phase::committing) return {};
  first_commit_ = false;
  conflicts_ = 0;
  if (in_.self.message_buffer_autoclear && iteration_ == 0 && context_.size() > 1) context_.resize(1);
  context_.insert(context_.end(), uncommitted_.begin(), uncommitted_.end());
  effects out;
  if (!to_emit_.empty()) {
    visible_ = true;
    // A token stream has shown the reply itself; only what the tools returned is new, and of a resumed step nothing
    // where no tool ran.
    if (in_.tokens) {
      std::erase_if(to_emit_, [](auto& m) { return m->role != message_role::tool; });
      if (resumed_ && planned_.empty()) to_emit_.clear();
    }
    out.emplace_back(emit{to_emit_});
  }
  uncommitted_.clear();
  edits_.clear();
  step_tools_used_.clear();
  planned_.clear();
  earlier_returns_.clear();
  resumed_ = false;
  if (!go_on_ || failure_) {
    phase_ = phase::finished;
    out.emplace_back(finished{failure_ ? std::nullopt : stop_, failure_, usage(), true, visible_});
    return out;
  }
  ++iteration_;
  auto next = begin_step();
  out.insert(out.end(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
  return out;
}

// A block moved on under the tools: what they did is done again on the new text. Anything else ends the turn; the
// store has nothing of this step.
effects native_loop::on(commit_failed e) {
  if (phase_ != phase::committing) return {};
  if (e.why.code == errc::conflict && !planned_.empty() && ++conflicts_ <= max_conflicts) {
    --steps_;
    for (auto& p : planned_)
      if (!p.violates) p.result.reset();
    // The inputs go back to where they were.
    for (auto& m : uncommitted_)
      if (m->role == message_role::approval && !is_approval_request(*m)) approval_ = *m;
    if (!approval_)
      for (auto& m : uncommitted_)
        if (std::find(to_emit_.begin(), to_emit_.end(), m) == to_emit_.end()) inputs_.push_back(m);
    return run_planned();
  }
  phase_ = phase::finished;
  effects out;
  out.emplace_back(finished{std::nullopt, std::move(e.why), usage(), false, visible_});
  return out;
}

// -- failures and ends ----------------------------------------------------------------------------
effects native_loop::on(model_failed e) {
  if (phase_ != phase::calling_model) return {};
  step_->llm_request_ns = e.duration_ns;
  visible_ |= e.visible;
  return end_now(std::nullopt, std::move(e.why));
}

effects native_loop::on(cancel) {
  if (cancelled_) return {};
  cancelled_ = true;
  effects out;
  switch (phase_) {
  case phase::calling_model: {
    out.emplace_back(abandon_model{});
    auto end = end_now(stop_reason::cancelled, std::nullopt);
    out.insert(out.end(), std::make_move_iterator(end.begin()), std::make_move_iterator(end.end()));
    return out;
  }
  case phase::idle: return end_now(stop_reason::cancelled, std::nullopt);
  // Tools that run have effects: what they return is stored, and the turn ends after that step.
  case phase::running_tools:
  case phase::committing:
  case phase::finished: return out;
  }
  return out;
}

// Ends the turn without a further step. A step that was begun is stored as failed; nothing of its messages is.
effects native_loop::end_now(std::optional<stop_reason> reason, std::optional<error> failure) {
  stop_ = reason;
  failure_ = std::move(failure);
  go_on_ = false;
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.run = in_.run;
  batch.started = first_commit_ && step_.has_value();
  if (phase_ == phase::calling_model && step_) {
    ++steps_;
    step_->status = failure_ ? step_status::failed : step_status::cancelled;
    step_->step_ns = env_.monotonic_ns() - step_started_ns_;
    step_->stop_reason_ = failure_ ? std::optional(shape_of(*failure_, visible_).reason) : stop_;
    if (failure_) {
      step_->error_type = std::string(llm_error_class(*failure_));
      step_->error_data =
          step_error{failure_->message, std::string(llm_error_class(*failure_)) + ": " + failure_->message,
                     std::nullopt};
    }
    batch.step_ = step_;
  }
  batch.end = make_end();
  if (!failure_)
    batch.last_stop_reason = stop_;
  else if (in_.how != mode::blocking)
    batch.last_stop_reason = batch.end->reason;
  uncommitted_.clear();
  to_emit_.clear();
  phase_ = phase::committing;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

// What the run ends as, which depends on how it was asked for (reference: agent-loop §6.2).
run_end native_loop::make_end() const {
  run_end end;
  if (failure_) {
    auto shape = shape_of(*failure_, visible_);
    end.status = run_status::failed;
    switch (in_.how) {
    case mode::blocking: end.metadata["error"] = boost::json::string(failure_->message); break;
    case mode::async:
      end.reason = stop_reason::error;
      end.metadata["error"] = boost::json::string(failure_->message);
      break;
    case mode::stream:
    case mode::background:
      end.reason = shape.reason;
      end.metadata["error"] = error_message(in_.run, shape);
      break;
    }
    return end;
  }
  end.reason = stop_;
  auto mapped = status_for(stop_.value_or(stop_reason::end_turn));
  end.status = mapped;
  bool completes = in_.how == mode::stream || in_.how == mode::async;
  if (completes && mapped == run_status::failed) end.status = run_status::completed;
  return end;
}

usage_statistics native_loop::usage() const {
  usage_statistics u;
  u.completion_tokens = total_.completion;
  u.prompt_tokens = total_.prompt;
  u.total_tokens = total_.total;
  u.step_count = calls_of_model_;
  u.cached_input_tokens = total_.cached_input;
  u.cache_write_tokens = total_.cache_write;
  u.reasoning_tokens = total_.reasoning;
  u.context_tokens = context_tokens_;
  return u;
}

// -- pieces ---------------------------------------------------------------------------------------
std::vector<std::string> native_loop::attached_names() const {
  std::vector<std::string> out;
  for (auto& t : in_.tools) out.push_back(t.name);
  return out;
}

const tool* native_loop::find_tool(const std::string& name) const {
  auto it = std::find_if(in_.tools.begin(), in_.tools.end(), [&](auto& t) { return t.name == name; });
  return it == in_.tools.end() ? nullptr : &*it;
}

bool native_loop::is_client_tool(const std::string& name) const {
  auto& list = in_.request.client_tools;
  return std::any_of(list.begin(), list.end(), [&](auto& t) { return t.name == name; });
}

bool native_loop::is_gated(const std::string& name) const {
  return rules_.needs_approval(name) && find_tool(name);
}

std::optional<json::value> native_loop::last_tool_output() const {
  for (auto it = context_.rbegin(); it != context_.rend(); ++it) {
    if ((*it)->role != message_role::tool || (*it)->content.size() != 1) continue;
    auto* text = std::get_if<text_content>(&(*it)->content[0]);
    auto v = text ? json::try_parse(text->text) : std::nullopt;
    auto* output = v ? json::find(*v, "message") : nullptr;
    if (output) return *output;
  }
  return std::nullopt;
}

message native_loop::fresh_message(message_role role) const { return new_message(in_, role, env_); }

message native_loop::heartbeat(const std::string& reason) const {
  auto m = fresh_message(message_role::user);
  json::object packed;
  packed["type"] = "heartbeat";
  packed["reason"] = boost::json::string(reason);
  packed["time"] = boost::json::string(format_prompt_time(m.created_at, in_.self.timezone));
  m.content.emplace_back(text_content{json::print_packed(json::value(std::move(packed))), std::nullopt});
  return m;
}

} // namespace troupe::turn
