#include "actors/agent.hpp"

#include "core/turn/loops.hpp"
#include "storage/group_runs.hpp"
#include "storage/pending.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

error too_many(std::size_t n) {
  error e = fail(errc::too_many_requests,
                 "Too many requests are waiting for this agent (" + std::to_string(n) + "): try again later");
  e.extra["retry_after_s"] = 1;
  return e;
}

} // namespace

// -- the queue ------------------------------------------------------------------------------------
void context_runner::submit(turn_order_ptr order, reply<turn_answer> answer) {
  if (repeats(order, answer) || refused(order, answer)) return;
  if (order->busy == storage::busy_policy::interrupt) interrupt();
  if (queue_.size() >= deps_->limits.max_queue) return answer.deliver(too_many(queue_.size()));
  // What can be refused at once is: an agent that is gone has no queue.
  auto snapshot = deps_->db->snapshot();
  if (!snapshot->get(storage::key(storage::table::agents).add(order->agent)))
    return answer.deliver(fail(errc::not_found, "Agent with ID " + order->agent.str() + " not found"));
  snapshot.reset();
  job work;
  work.order = std::move(order);
  work.answer = std::move(answer);
  auto run = work.order->run_row.id;
  auto row = work.order;
  queue_.push_back(std::move(work));
  if (row->resumed)
    run_stored(run);
  else if (!row->compaction)
    store_run(row);
  start_next();
}

void context_runner::edit(exclusive_edit e, reply<done> answer) {
  if (queue_.size() >= deps_->limits.max_queue) return answer.deliver(too_many(queue_.size()));
  job work;
  work.batch = std::move(e);
  work.batch_answer = std::move(answer);
  queue_.push_back(std::move(work));
  start_next();
}

// The run becomes durable while the turn begins; the store keeps the order, so no step can overtake it. Who waits for
// the end of the turn does not wait for this: it may go with the first step.
void context_runner::store_run(const turn_order_ptr& order) {
  auto apply = [order](storage::transaction& t) -> result<void> {
    storage::create_run(t, order->run_row);
    if (order->outlives_restart()) storage::put_pending(t, *order);
    return {};
  };
  auto run = order->run_row.id;
  auto due = order->how == turn::mode::blocking ? write::when::beside : write::when::now;
  self_->request(deps_->store, caf::infinite, write{"run.create", std::move(apply), due})
      .then([this, run](done) { run_stored(run); },
            [this, run](const caf::error& e) { run_refused(run, from_caf(e)); });
}

context_runner::job* context_runner::find_job(const run_id& run) {
  if (running_ && running_->work.order && running_->work.order->run_row.id == run) return &running_->work;
  auto it = std::find_if(queue_.begin(), queue_.end(),
                         [&](auto& j) { return j.order && j.order->run_row.id == run; });
  return it == queue_.end() ? nullptr : &*it;
}

std::optional<context_runner::job> context_runner::take_queued(const run_id& run) {
  auto it = std::find_if(queue_.begin(), queue_.end(),
                         [&](auto& j) { return j.order && j.order->run_row.id == run; });
  if (it == queue_.end()) return std::nullopt;
  auto out = std::move(*it);
  queue_.erase(it);
  return out;
}

// Streams and asynchronous requests are answered as soon as their run is durable.
void context_runner::run_stored(const run_id& run) {
  auto* work = find_job(run);
  if (!work || work->order->how == turn::mode::blocking || work->order->part_of) return;
  work->accepted = true;
  auto& order = *work->order;
  if (order.how != turn::mode::async) {
    open_stream open{run, order.how == turn::mode::background, std::nullopt};
    if (order.request.include_pings)
      open.first = stream_frame{turn::ping(run, deps_->env->now(), *deps_->env, std::nullopt)};
    self_->send(deps_->streams, std::move(open));
  }
  work->deliver(turn_answer{{}, run, 0});
}

void context_runner::run_refused(const run_id& run, const error& why) {
  if (running_ && running_->work.order && running_->work.order->run_row.id == run) {
    if (running_->calling) self_->send(deps_->models, abandon_atom_v, running_->calling->value);
    running_->work.deliver(why);
    ++epoch_;
    running_.reset();
    return start_next();
  }
  if (auto waiting = take_queued(run)) waiting->deliver(why);
}

actor_status context_runner::status() const {
  return {"agent", queue_.size(), running_ || editing_ ? 1u : 0u, 1};
}

// -- one after another ----------------------------------------------------------------------------
void context_runner::start_next() {
  if (running_ || editing_) return;
  if (queue_.empty()) return watch_deadlines();
  auto work = std::move(queue_.front());
  queue_.pop_front();
  if (work.batch)
    start_edit(std::move(work));
  else
    start_turn(std::move(work));
}

void context_runner::start_edit(job work) {
  editing_ = true;
  auto answer = std::make_shared<reply<done>>(std::move(work.batch_answer));
  auto finish = [this, answer](const error* e) {
    editing_ = false;
    if (e)
      answer->deliver(*e);
    else
      answer->deliver(done{});
    start_next();
  };
  self_->request(deps_->store, caf::infinite, std::move(work.batch->batch))
      .then([finish](done) { finish(nullptr); },
            [finish](const caf::error& e) {
              auto why = from_caf(e);
              finish(&why);
            });
}

void context_runner::start_turn(job work) {
  ++epoch_;
  running_.emplace();
  running_->work = std::move(work);
  auto order = running_->work.order;
  if (!order->is_background_work()) running_->in_front = deps_->front->enter();
  guarded(
      "agent.start",
      [&] {
        auto snapshot = deps_->db->snapshot();
        if (order->group) {
          auto in = storage::load_group_run(*snapshot, *order, deps_->env->now());
          if (!in) return carry_out(turn::finished{std::nullopt, in.error(), {}, false, false});
          running_->machine = std::make_unique<group_run::run_machine>(std::move(*in), *deps_->env);
          return;
        }
        auto in = storage::load_turn(*snapshot, *order);
        snapshot.reset();
        if (!in) return carry_out(turn::finished{std::nullopt, in.error(), {}, false, false});
        running_->agent_tags = std::move(in->self.tags);
        running_->machine = turn::make_loop(std::move(*in), *deps_->env);
      },
      [&](const error& e) {
        carry_out(turn::finished{std::nullopt, e, {}, false, false});
      });
  if (!running_ || !running_->machine) return;
  watch_deadlines();
  feed(turn::started{});
}

// Events are handled one by one, also where carrying out an effect gives the next event at once.
void context_runner::feed(turn::event e) {
  if (!running_ || !running_->machine) return;
  running_->events.push_back(std::move(e));
  if (running_->handling) return;
  running_->handling = true;
  auto epoch = epoch_;
  while (running_ && epoch == epoch_ && !running_->events.empty()) {
    auto next = std::move(running_->events.front());
    running_->events.pop_front();
    guarded(
        "agent.turn",
        [&] {
          for (auto& effect : running_->machine->handle(std::move(next))) {
            if (!running_ || epoch != epoch_) return;
            carry_out(std::move(effect));
          }
        },
        [&](const error& failure) {
          if (running_ && epoch == epoch_) carry_out(turn::finished{std::nullopt, failure, {}, false, false});
        });
  }
  if (running_ && epoch == epoch_) running_->handling = false;
}

// -- deadlines ------------------------------------------------------------------------------------
void context_runner::watch_deadlines() {
  bool busy = running_ || !queue_.empty() || !unfinished_.empty();
  if (busy == std::exchange(watched_, busy)) return;
  if (busy)
    deps_->busy->add(agent_actor(self_));
  else
    deps_->busy->remove(self_->id());
}

void context_runner::tick() {
  retry_unfinished();
  end_what_is_late();
  if (running_ && running_->calling && deps_->env->monotonic_ns() >= running_->call_deadline_ns) {
    spdlog::warn("agent {}: the model did not answer in time", running_->work.order->agent.str());
    auto step = *std::exchange(running_->calling, std::nullopt);
    self_->send(deps_->models, abandon_atom_v, step.value);
    feed(turn::model_failed{
        llm_failure(errc::llm_timeout, "LLMTimeoutError", "TIMEOUT: The model did not answer in time"), 0,
        false});
  }
  watch_deadlines();
}

// Whoever gave the errand does not wait any longer.
void context_runner::end_what_is_late() {
  auto now = deps_->env->now();
  auto is_late = [&](const job& j) {
    return j.order && j.order->part_of && j.order->part_of->deadline && *j.order->part_of->deadline <= now;
  };
  std::vector<run_id> late;
  for (auto& j : queue_)
    if (is_late(j)) late.push_back(j.order->run_row.id);
  if (running_ && is_late(running_->work)) late.push_back(running_->work.order->run_row.id);
  for (auto& run : late) cancel(run, {});
}

// -- behaviour ------------------------------------------------------------------------------------
agent_actor::behavior_type agent_context(agent_actor::stateful_pointer<agent_state> self, agent_deps_ptr deps,
                                         directory_actor others) {
  self->state.runner = std::make_unique<context_runner>(self, std::move(deps), std::move(others));
  auto* runner = self->state.runner.get();
  return {
      [=](const turn_order_ptr& order) -> caf::typed_response_promise<turn_answer> {
        auto promise = self->make_response_promise<turn_answer>();
        guarded("agent.submit", [&] { runner->submit(order, reply<turn_answer>(promise)); });
        return promise;
      },
      [=](const exclusive_edit& e) -> caf::typed_response_promise<done> {
        auto promise = self->make_response_promise<done>();
        guarded("agent.edit", [&] { runner->edit(e, reply<done>(promise)); });
        return promise;
      },
      [=](cancel_atom, const uuid& run) -> caf::typed_response_promise<bool> {
        auto promise = self->make_response_promise<bool>();
        guarded("agent.cancel", [&] { runner->cancel(run_id{run}, reply<bool>(promise)); });
        return promise;
      },
      [=](tick_atom) { guarded("agent.tick", [&] { runner->tick(); }); },
      [=](retire_atom) -> bool {
        bool leaves = runner->idle();
        if (leaves) self->quit();
        return leaves;
      },
      [=](status_atom) { return runner->status(); },
  };
}

} // namespace troupe::actors
