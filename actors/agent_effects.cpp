// How the effects of a turn are carried out.
#include "actors/agent.hpp"
#include "core/protocol/protocol.hpp"
#include "core/protocol/traced_reply.hpp"
#include "storage/agents.hpp"
#include "storage/pending.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::actors {

void context_runner::carry_out(turn::effect e) {
  std::visit([this](auto&& x) { carry_out(std::forward<decltype(x)>(x)); }, std::move(e));
}

// -- the model ------------------------------------------------------------------------------------
void context_runner::carry_out(turn::call_model e) {
  auto body = protocol::request_body(e.request);
  body.shrink_to_fit(); // it stays until the answer begins, which takes a while
  auto sent = std::make_shared<const std::string>(std::move(body));
  auto call = std::make_shared<model_call>();
  call->config = std::move(e.request.config);
  call->stream = e.request.stream;
  call->chunks = std::move(e.chunks);
  call->timeout_ms = deps_->limits.model_timeout.count();
  auto step = call->chunks.step;
  running_->calling = step;
  running_->call_deadline_ns = deps_->env->monotonic_ns() + deps_->limits.model_timeout.count() * 1'000'000;
  auto current = [this, epoch = epoch_, step] {
    return epoch == epoch_ && running_ && running_->calling == step;
  };
  model_call_ptr made = std::move(call);
  auto kept = made->stream ? nullptr : sent; // that of a stream is made again for the trace
  self_->request(deps_->models, caf::infinite, made, sent)
      .then(
          [this, current, made, kept](const model_result_ptr& r) {
            if (!current()) return;
            running_->calling.reset();
            keep_trace(*made, kept, r->reply);
            if (r->reply)
              feed(turn::model_replied{*r->reply, r->duration_ns});
            else
              feed(turn::model_failed{r->reply.error(), r->duration_ns, r->visible});
          },
          [this, current](const caf::error& why) {
            if (!current()) return;
            running_->calling.reset();
            feed(turn::model_failed{from_caf(why), 0, false});
          });
}

// What went to the provider and came back, to be stored with the step.
void context_runner::keep_trace(const model_call& call, const model_body_ptr& body,
                                const result<model_reply>& reply) {
  if (deps_->limits.traces.most == 0) return;
  auto& order = *running_->work.order;
  provider_trace trace;
  trace.id = deps_->env->make_id<trace_id>();
  trace.step = call.chunks.step;
  trace.agent = order.agent;
  trace.run = order.run_row.id;
  trace.organization_id = order.acting.org;
  trace.user = order.acting.user;
  trace.created_at = deps_->env->now();
  trace.agent_tags = running_->agent_tags;
  trace.request = body ? *body : protocol::request_body(running_->machine->request());
  trace.response = protocol::traced_reply(reply, call.config.model);
  trace.config = call.config;
  running_->trace = std::make_shared<const provider_trace>(std::move(trace));
}

void context_runner::carry_out(turn::abandon_model) {
  if (running_->calling) self_->send(deps_->models, abandon_atom_v, running_->calling->value);
  running_->calling.reset();
}

// -- the store ------------------------------------------------------------------------------------
void context_runner::carry_out(turn::commit e) {
  auto batch = std::make_shared<turn::step_commit>(std::move(e.batch));
  std::shared_ptr<const provider_trace> trace;
  if (running_->trace && batch->step_ && batch->step_->id == running_->trace->step)
    trace = std::exchange(running_->trace, nullptr);
  bool is_compaction = running_->work.order->compaction.has_value();
  auto report = std::make_shared<storage::step_report>();
  auto left = std::make_shared<std::vector<turn_order_ptr>>(orders_for(batch->tells));
  auto apply = [batch, is_compaction, report, env = deps_->env, left](storage::transaction& t) {
    auto done = is_compaction ? storage::apply_compaction(t, *batch, *env)
                              : storage::apply_step(t, *batch, *env, report.get());
    if (done)
      for (auto& order : *left) storage::promise_turn(t, *order);
    return done;
  };
  auto current = [this, epoch = epoch_] { return epoch == epoch_ && running_; };
  bool gives_way = running_->work.order->is_background_work() && deps_->front->is_busy();
  auto due = gives_way ? write::when::beside : write::when::now;
  self_->request(deps_->store, caf::infinite, write{"turn.step", std::move(apply), due})
      .then(
          [this, current, report, left](done) {
            for (auto& order : *left) caf::anon_send(others_, order);
            if (deps_->sleeper && report->run_ids && !report->run_ids->empty())
              self_->send(deps_->sleeper, hint_atom_v);
            if (current()) feed(turn::committed{report->run_ids});
          },
          [this, current, trace, order = running_->work.order, is_compaction](const caf::error& why) {
            auto e = from_caf(why);
            // The end of a run has to be stored some time, whatever happened to its last step.
            if (!is_compaction) keep_for_later(failed_end(order->run_row, e.message), e);
            if (!current()) return;
            if (trace) running_->trace = trace; // the step may be stored yet
            feed(turn::commit_failed{e});
          });
  if (trace) store_trace(trace); // which is free while the disk works
}

// No turn waits for its traces: together they are most of what a turn writes.
void context_runner::store_trace(const std::shared_ptr<const provider_trace>& trace) {
  constexpr std::size_t large = 64 << 10; // is not kept in memory
  auto due = trace->request.size() > large ? write::when::now : write::when::later;
  auto apply = [trace, limits = deps_->limits.traces](storage::transaction& t) -> result<void> {
    // The step may have been refused, or deleted meanwhile.
    if (storage::find_step(t, trace->step)) storage::put_trace(t, *trace, limits);
    return {};
  };
  self_->request(deps_->store, caf::infinite, write{"turn.trace", std::move(apply), due})
      .then([](done) {}, [](const caf::error&) {}); // one that cannot be stored is not missed
}

// -- the client -----------------------------------------------------------------------------------
std::optional<run_id> context_runner::shown_in_stream() const {
  if (!running_) return std::nullopt;
  auto& order = *running_->work.order;
  if (order.part_of) return order.part_of->shown_in;
  return turn::has_events(order.how) ? std::optional(order.run_row.id) : std::nullopt;
}

void context_runner::publish_frames(const run_id& run, std::vector<turn::frame> frames, bool last) {
  publish p{run, {}, last};
  for (auto& f : frames) p.frames.push_back({std::move(f.data), f.is_error});
  self_->send(deps_->streams, std::move(p));
}

void context_runner::carry_out(turn::say e) {
  if (!shown_in_stream()) return;
  std::vector<turn::frame> frames;
  for (auto& body : e.bodies) frames.push_back({std::move(body)});
  publish_frames(*shown_in_stream(), std::move(frames), false);
}

void context_runner::carry_out(turn::emit e) {
  auto& order = *running_->work.order;
  auto stream = shown_in_stream();
  if (!stream) {
    running_->shown.insert(running_->shown.end(), e.messages.begin(), e.messages.end());
    return;
  }
  auto view = running_->machine->view();
  if (order.part_of) view.run = stream;
  auto frames = turn::frames_of(e.messages, view, order.request.include_return_message_types);
  if (!frames.empty()) publish_frames(*stream, std::move(frames), false);
}

} // namespace troupe::actors
