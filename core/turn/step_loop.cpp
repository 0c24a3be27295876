#include "core/turn/step_loop.hpp"

#include "core/tools/custom_tool.hpp"
#include "core/turn/failure.hpp"

#include <algorithm>
#include <set>

namespace troupe::turn {

namespace {

constexpr int max_conflicts = 5; // times that tools run again because a block moved on under them

// What a run that goes on after a restart has called already; calls that the rules refused do not count.
std::vector<std::string> calls_so_far(const input& in) {
  std::vector<std::string> names;
  std::set<std::string> refused;
  std::vector<const message*> own;
  for (auto& m : in.in_context)
    if (m->run == in.run) own.push_back(m.get());
  for (auto* m : own)
    for (auto& r : m->tool_returns)
      if (auto* text = std::get_if<std::string>(&r.func_response);
          text && text->find("[ToolConstraintError]") != std::string::npos)
        refused.insert(r.tool_call_id.value_or(""));
  for (auto* m : own)
    for (auto& call : m->tool_calls)
      if (m->role == message_role::assistant && !refused.contains(call.id)) names.push_back(call.name);
  return names;
}

bool is_empty_text(const content_part& p) {
  auto* t = std::get_if<text_content>(&p);
  return t && t->text.empty() && !t->signature;
}

} // namespace

step_loop::step_loop(input in, environment& env)
    : in_(std::move(in)), env_(env), rules_(in_.self.tool_rules), context_(in_.in_context) {
  for (auto& name : calls_so_far(in_)) rules_.called(name);
  bool waits = !context_.empty() && is_approval_request(*context_.back());
  if (in_.self.message_buffer_autoclear && context_.size() > 1 && !waits) context_.resize(1);
}

effects step_loop::handle(event e) {
  if (phase_ == phase::finished) return {};
  return std::visit([this](auto&& x) { return on(std::forward<decltype(x)>(x)); }, std::move(e));
}

// -- the beginning --------------------------------------------------------------------------------
effects step_loop::on(started) {
  if (phase_ != phase::idle) return {}; // cancelled before it began
  if (context_.empty())
    return end_now(std::nullopt, fail(errc::internal, "Agent has no in-context messages"));
  auto prepared = prepare(in_, env_);
  if (!prepared) return end_now(std::nullopt, prepared.error());
  inputs_ = std::move(prepared->messages);
  approval_ = std::move(prepared->approval);
  if (in_.request.max_steps <= 0) return end_now(stop_reason::end_turn, std::nullopt);
  if (!approval_) return begin_step();
  resumed_ = true;
  return resume_from_approval();
}

effects step_loop::begin_step() {
  if (cancelled_) return end_now(stop_reason::cancelled, std::nullopt);
  allowed_ = rules_.allowed(attached_names(), last_tool_output());
  begin_step_record();
  compactions_ = 0;
  return ask_model();
}

effects step_loop::ask_model() {
  phase_ = phase::calling_model;
  project::chunk_target chunks;
  chunks.id = reply_id_;
  chunks.step = step_->id;
  chunks.run = in_.run;
  if (in_.part_of && in_.part_of->shown_in) chunks.run = *in_.part_of->shown_in;
  if (in_.part_of && in_.part_of->group) chunks.name = in_.self.name;
  chunks.types = in_.request.include_return_message_types;
  chunks.inner = inner();
  for (auto& name : attached_names())
    if (is_gated(name)) chunks.gated.push_back(name);
  for (auto& t : in_.request.client_tools) chunks.gated.push_back(t.name);
  effects out;
  out.emplace_back(call_model{request(), std::move(chunks)});
  return out;
}

// -- the reply and its tools ----------------------------------------------------------------------
effects step_loop::on(model_replied e) {
  if (phase_ == phase::compacting) {
    compactor_->take(std::move(e.reply));
    return continue_compaction();
  }
  if (phase_ != phase::calling_model) return {};
  count_usage(e.reply.usage, e.duration_ns);
  for (auto& call : e.reply.calls)
    if (call.id.empty()) call.id = "call_" + env_.random_uuid().str().substr(0, 8);
  std::erase_if(e.reply.content, is_empty_text);
  planned_.clear();
  stop_.reset();
  return take_reply(std::move(e.reply));
}

effects step_loop::run_planned() {
  rules_before_ = rules_;
  run_tools run;
  for (auto& p : planned_) {
    if (!p.result) run.calls.push_back(p.invocation);
    run.kept.insert(run.kept.end(), p.blocks.begin(), p.blocks.end());
  }
  if (run.calls.empty() && run.kept.empty()) return take_results();
  run.if_lost = batch_if_lost();
  phase_ = phase::running_tools;
  effects out;
  out.emplace_back(std::move(run));
  return out;
}

// What this step would store if the tools that run outside never returned; nothing where there are none. A copy of the
// loop finds out, so that the loop itself has not gone on.
std::optional<step_commit> step_loop::batch_if_lost() const {
  auto is_lost = [this](auto& p) {
    auto t = p.result ? nullptr : find_tool(p.invocation.call.name);
    return t && tools::runs_in_sandbox(*t);
  };
  if (std::none_of(planned_.begin(), planned_.end(), is_lost)) return std::nullopt;
  auto other = copy();
  for (auto& p : other->planned_) {
    if (p.result) continue;
    p.result.emplace();
    p.result->status = return_status::error;
    p.result->returned = boost::json::string(lost_call);
  }
  for (auto& e : other->take_results())
    if (auto* c = std::get_if<commit>(&e)) return std::move(c->batch);
  return std::nullopt;
}

effects step_loop::on(tools_finished e) {
  if (phase_ != phase::running_tools) return {};
  for (auto& o : e.outcomes)
    for (auto& p : planned_)
      if (p.invocation.call.id == o.call_id && !p.result) {
        p.result = std::move(o.result);
        p.once = o.once;
        p.blocks = std::move(o.blocks);
        p.tells = std::move(o.tells);
        break;
      }
  edits_ = std::move(e.edits);
  if (step_) step_->tool_execution_ns = e.duration_ns;
  return take_results();
}

// Stored as an ordinary reply that is not answered yet.
effects step_loop::store_open_calls(model_reply reply) {
  auto called = fresh_message(message_role::assistant);
  called.id = reply_id_;
  called.content = std::move(reply.content);
  called.tool_calls = std::move(reply.calls);
  called.tool_call_id = called.tool_calls.front().id;
  go_on_ = false;
  stop_ = stop_reason::requires_approval;
  std::vector<message> fresh;
  fresh.push_back(std::move(called));
  return commit_step(std::move(fresh));
}

// -- the batch ------------------------------------------------------------------------------------
effects step_loop::commit_step(std::vector<message> fresh) {
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.run = in_.run;
  // A request for approval and its answer stay in the context, or nobody could answer.
  bool waits = resumed_ || stop_ == stop_reason::requires_approval;
  batch.history_only = in_.self.message_buffer_autoclear && keeps_boot_messages() && !waits;
  batch.autoclear = first_commit_ && in_.self.message_buffer_autoclear && !keeps_boot_messages() && !resumed_;
  auto step = step_ ? std::optional<step_id>(step_->id) : std::nullopt;
  if (resumed_) step = context_.back()->step;
  uncommitted_.clear();
  to_emit_.clear();
  auto keep = [&](message m, bool show) {
    m.step = step;
    m.model = m.model ? m.model : std::optional<std::string>(in_.llm.model);
    uncommitted_.push_back(std::make_shared<const message>(std::move(m)));
    if (show) to_emit_.push_back(uncommitted_.back());
  };
  bool takes_inputs = !approval_;
  answered_by_giver_ = answers_open_calls();
  if (approval_ && !answered_by_giver_) keep(std::move(*approval_), false);
  if (takes_inputs)
    for (auto& m : inputs_) keep(*m, false);
  for (auto& m : fresh) keep(std::move(m), true);
  approval_.reset();
  if (takes_inputs) inputs_.clear();
  batch.messages = uncommitted_;
  batch.edits = edits_;
  for (auto& p : planned_) batch.tells.insert(batch.tells.end(), p.tells.begin(), p.tells.end());
  batch.tools_used = step_tools_used_;
  batch.started = first_commit_ && shows_running();
  bool last = !go_on_ || is_last_step() || cancelled_;
  if (last && !stop_)
    stop_ = cancelled_ ? stop_reason::cancelled : go_on_ ? stop_reason::max_steps : stop_reason::end_turn;
  if (step_) {
    step_->status = step_status::success;
    step_->step_ns = env_.monotonic_ns() - step_started_ns_;
    if (last) step_->stop_reason_ = stop_;
    batch.step_ = step_;
  }
  end_after_compaction_ = last && !cancelled_ && is_near_the_end();
  if (last) go_on_ = false;
  if (last && !end_after_compaction_) {
    batch.end = make_end();
    batch.last_stop_reason = stop_;
  }
  phase_ = phase::committing;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

effects step_loop::on(committed e) {
  if (phase_ == phase::storing_compaction) return compacted();
  if (phase_ != phase::committing) return {};
  if (e.run_ids) background_runs_ = std::move(e.run_ids);
  if (first_commit_ && in_.self.message_buffer_autoclear && context_.size() > 1 && !resumed_)
    context_.resize(1);
  first_commit_ = false;
  conflicts_ = 0;
  context_.insert(context_.end(), uncommitted_.begin(), uncommitted_.end());
  effects out;
  std::erase_if(to_emit_, [this](auto& m) { return !shows(*m); });
  if (!to_emit_.empty()) {
    visible_ = true;
    // A token stream has shown the reply itself; only what the tools returned is new, and of a resumed step nothing
    // where no tool ran.
    if (in_.tokens) {
      std::erase_if(to_emit_, [this](auto& m) { return !shows_beside_tokens(*m); });
      if (resumed_ && planned_.empty() && !answered_by_giver_) to_emit_.clear();
    }
    out.emplace_back(emit{to_emit_});
  }
  uncommitted_.clear();
  edits_.clear();
  step_tools_used_.clear();
  planned_.clear();
  resumed_ = false;
  bool near = !failure_ && !cancelled_ && (go_on_ || end_after_compaction_) && is_near_the_end();
  if (near) {
    append(out, begin_compaction("post_step_context_check"));
    return out;
  }
  if (!go_on_ || failure_) {
    phase_ = phase::finished;
    out.emplace_back(
        finished{failure_ ? std::nullopt : stop_, failure_, usage(), true, visible_, {}, says_why_late()});
    return out;
  }
  ++iteration_;
  append(out, begin_step());
  return out;
}

// A block moved on under the tools: what they did is done again on the new text. Anything else ends the turn; the
// store has nothing of this step.
effects step_loop::on(commit_failed e) {
  if (phase_ != phase::committing && phase_ != phase::storing_compaction) return {};
  if (e.why.code == errc::conflict && !planned_.empty() && ++conflicts_ <= max_conflicts) {
    for (auto& p : planned_)
      if (!p.violates && !p.invalid && !p.once) p.result.reset();
    rules_ = rules_before_; // the calls count once
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
effects step_loop::on(model_failed e) {
  if (phase_ == phase::compacting) {
    compactor_->take(std::move(e.why));
    return continue_compaction();
  }
  if (phase_ != phase::calling_model) return {};
  step_->llm_request_ns = e.duration_ns;
  visible_ |= e.visible;
  if (!e.visible && can_compact_for(e.why)) {
    interrupted_ = std::move(e.why);
    return begin_compaction("context_window_exceeded");
  }
  return end_now(std::nullopt, std::move(e.why));
}

effects step_loop::on(cancel) {
  if (cancelled_) return {};
  cancelled_ = true;
  effects out;
  switch (phase_) {
  case phase::calling_model:
    out.emplace_back(abandon_model{});
    append(out, end_now(stop_reason::cancelled, std::nullopt));
    return out;
  case phase::compacting:
    out.emplace_back(abandon_model{});
    phase_ = interrupted_ ? phase::calling_model : phase::idle;
    append(out, end_now(stop_reason::cancelled, std::nullopt));
    return out;
  case phase::idle: return end_now(stop_reason::cancelled, std::nullopt);
  // Tools that run have effects: what they return is stored, and the turn ends after that step.
  case phase::running_tools: out.emplace_back(abandon_tools{}); return out;
  case phase::committing:
  case phase::storing_compaction:
  case phase::finished: return out;
  }
  return out;
}

// Ends the turn without a further step. A step that was begun is stored as failed; nothing of its messages is.
effects step_loop::end_now(std::optional<stop_reason> reason, std::optional<error> failure) {
  stop_ = reason;
  failure_ = std::move(failure);
  go_on_ = false;
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.run = in_.run;
  batch.started = first_commit_ && step_.has_value() && shows_running();
  if (phase_ == phase::calling_model && step_) {
    close_failed_step();
    batch.step_ = step_;
  }
  bool stays_open = failure_ && in_.part_of && in_.part_of->may_retry && is_worth_another_try(*failure_);
  if (stays_open && !batch.step_) { // nothing to store
    phase_ = phase::finished;
    effects out;
    out.emplace_back(finished{std::nullopt, failure_, usage(), true, visible_});
    return out;
  }
  if (!stays_open) batch.end = make_end();
  if (!failure_)
    batch.last_stop_reason = stop_;
  else if (batch.end && in_.how != mode::blocking)
    batch.last_stop_reason = batch.end->reason;
  uncommitted_.clear();
  to_emit_.clear();
  phase_ = phase::committing;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

} // namespace troupe::turn
