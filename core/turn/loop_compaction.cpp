// Compaction inside a turn (reference: agent-loop §9.2, §9.5): where the provider says that the context is too long,
// and after a step that came near the end of the window.
#include "core/turn/output.hpp"
#include "core/turn/step_loop.hpp"

#include <utility>

namespace troupe::turn {

namespace {

constexpr int max_compactions = 3;   // of one step
constexpr double window_share = 0.9; // of the window, beyond which a context is compacted

} // namespace

std::int64_t step_loop::compaction_limit() const {
  return static_cast<std::int64_t>(static_cast<double>(in_.llm.context_window) * window_share);
}

bool step_loop::is_near_the_end() const {
  return last_tokens_ > compaction_limit() && context_.size() + uncommitted_.size() > 2 &&
         !in_.self.message_buffer_autoclear;
}

bool step_loop::can_compact_for(const error& why) const {
  return why.code == errc::llm_context_window && compactions_ < max_compactions && context_.size() > 2;
}

effects step_loop::begin_compaction(std::string trigger) {
  ++compactions_;
  compaction_stats stats;
  stats.trigger = std::move(trigger);
  stats.context_window = in_.llm.context_window;
  stats.context_tokens_before = last_tokens_ > 0 ? last_tokens_ : estimate_tokens(context_);
  stats.messages_count_before = static_cast<std::int64_t>(context_.size());
  auto job = job_for(in_, in_.self.compaction, context_, request().tools);
  job.limit = compaction_limit();
  compactor_.emplace(std::move(job));
  effects out;
  if (in_.request.include_compaction_messages)
    out.emplace_back(
        say{{compaction_event(stats, in_.run, step_ ? std::optional(step_->id) : std::nullopt, env_)}});
  stats_ = std::move(stats);
  append(out, continue_compaction());
  return out;
}

effects step_loop::continue_compaction() {
  auto request = compactor_->next();
  if (!request) return compactor_->outcome() ? store_compaction() : compaction_failed();
  phase_ = phase::compacting;
  project::chunk_target nobody;
  nobody.step = env_.make_id<step_id>();
  effects out;
  out.emplace_back(call_model{std::move(*request), std::move(nobody)});
  return out;
}

effects step_loop::store_compaction() {
  auto& o = *compactor_->outcome();
  stats_->context_tokens_after = o.tokens_after;
  stats_->messages_count_after = static_cast<std::int64_t>(o.kept.size()) + 2;
  bool shown = in_.request.include_compaction_messages;
  auto m = fresh_message(shown ? message_role::summary : message_role::user);
  if (!shown) m.otid = env_.random_uuid().str();
  if (step_) m.step = step_->id;
  m.content.emplace_back(
      text_content{packed_summary(o, stats_, m.created_at, in_.self.timezone), std::nullopt});
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.run = in_.run;
  batch.rewrite.emplace();
  batch.rewrite->summary = std::make_shared<const message>(std::move(m));
  batch.rewrite->recompile = true;
  batch.rewrite->dropped = o.dropped;
  if (end_after_compaction_) {
    batch.end = make_end();
    batch.last_stop_reason = stop_;
  }
  summary_ = batch.rewrite->summary;
  phase_ = phase::storing_compaction;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

// The summary is durable: clients see it, and what was interrupted goes on.
effects step_loop::compacted() {
  auto& o = *compactor_->outcome();
  std::vector<stored_message> context{context_.front(), summary_};
  context.insert(context.end(), o.kept.begin(), o.kept.end());
  context_ = std::move(context);
  last_tokens_ = o.tokens_after;
  if (counts_context()) context_tokens_ = o.tokens_after;
  effects out;
  visible_ = true;
  if (has_events(in_.how))
    out.emplace_back(
        say{{in_.request.include_compaction_messages ? summary_event(*summary_, o.summary, *stats_)
                                                     : summary_as_user_message(*summary_)}});
  else if (shows(*summary_))
    out.emplace_back(emit{{summary_}});
  append(out, after_compaction());
  return out;
}

effects step_loop::after_compaction() {
  compactor_.reset();
  effects out;
  if (end_after_compaction_) {
    phase_ = phase::finished;
    out.emplace_back(finished{stop_, std::nullopt, usage(), true, visible_});
    return out;
  }
  if (std::exchange(interrupted_, std::nullopt)) { // the step asks again
    if (!cancelled_) return ask_model();
    phase_ = phase::calling_model;
    return end_now(stop_reason::cancelled, std::nullopt);
  }
  ++iteration_;
  return begin_step();
}

// In the middle of a step the turn fails of it. After one the turn ends; its answer is a normal one, but for a system
// message that no compaction can shorten.
effects step_loop::compaction_failed() {
  auto why = compactor_->outcome().error();
  compactor_.reset();
  end_after_compaction_ = false; // nothing more is to be compacted behind this
  if (interrupted_) {
    phase_ = phase::calling_model;
    return end_now(std::nullopt, std::move(why));
  }
  phase_ = phase::idle;
  if (why.code == errc::system_prompt_overflow) return end_now(std::nullopt, std::move(why));
  return end_now(stop_ ? stop_ : stop_reason::error, std::nullopt);
}

} // namespace troupe::turn
