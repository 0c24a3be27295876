// How turns end: told to the client, cancelled, or stored later because the disk was full.
#include "actors/agent.hpp"

#include <algorithm>

namespace troupe::actors {

// Tells the client how its turn ended, and whoever cancelled it.
void context_runner::answer_client(job& work, const turn::finished& e,
                                   const std::vector<turn::stored_message>& shown,
                                   const project::options& view) {
  auto& order = *work.order;
  if (order.how == turn::mode::stream || order.how == turn::mode::background) {
    publish_frames(order.run_row.id,
                   turn::closing_frames(e, order.run_row.id, order.how, e.visible, order.tokens), true);
  } else if (!e.body.empty()) {
    work.deliver(turn_answer{e.body, std::nullopt});
  } else if (order.how == turn::mode::blocking && !e.failure) {
    work.deliver(turn_answer{turn::response_body(shown, e, view, order.request.include_return_message_types),
                             order.run_row.id});
  }
  // Where it was a stream: refused before its run was durable; otherwise its client has been answered by now.
  if (e.failure) work.deliver(*e.failure);
  if (order.run_row.callback_url) self_->send(deps_->streams, callback_atom_v, order.run_row.id.value);
  for (auto& waiting : work.cancels) waiting.deliver(true);
}

void context_runner::carry_out(turn::finished e) {
  auto turn_done = std::move(*running_);
  running_.reset();
  ++epoch_;
  auto& order = *turn_done.work.order;
  if (!e.durable && e.failure && !order.compaction && e.failure->code != errc::storage_full &&
      e.failure->code != errc::unavailable && e.failure->code != errc::cancelled) {
    // The turn broke before it could end its own run.
    turn::step_commit end;
    end.agent = order.agent;
    end.conversation = order.conversation;
    end.run = order.run_row.id;
    end.end =
        turn::run_end{run_status::failed,
                      order.how == turn::mode::blocking ? std::nullopt : std::optional(stop_reason::error),
                      {}};
    end.end->metadata["error"] = boost::json::string(e.failure->message);
    write_step(std::move(end));
  }
  answer_client(turn_done.work, e, turn_done.shown,
                turn_done.machine ? turn_done.machine->view() : project::options{});
  start_next();
}

// -- cancelling -----------------------------------------------------------------------------------
void context_runner::cancel(const run_id& run, reply<bool> answer) {
  auto* work = find_job(run);
  if (!work) return answer.deliver(false);
  work->cancels.push_back(std::move(answer));
  if (running_ && work == &running_->work) return feed(turn::cancel{});
  auto it = std::find_if(queue_.begin(), queue_.end(), [&](auto& j) { return &j == work; });
  auto taken = std::move(*it);
  queue_.erase(it);
  end_queued(std::move(taken));
}

// A turn that never began: nothing of it is stored but its end.
void context_runner::end_queued(job work) {
  auto batch = std::make_shared<turn::step_commit>();
  batch->agent = work.order->agent;
  batch->conversation = work.order->conversation;
  batch->run = work.order->run_row.id;
  batch->end = turn::run_end{run_status::cancelled, stop_reason::cancelled, {}};
  auto apply = [batch, env = deps_->env](storage::transaction& t) {
    return storage::apply_step(t, *batch, *env);
  };
  auto held = std::make_shared<job>(std::move(work));
  ++ends_out_;
  self_->request(deps_->store, caf::infinite, write{"run.cancel", std::move(apply)})
      .then(
          [this, held](done) {
            --ends_out_;
            answer_client(*held, turn::finished{stop_reason::cancelled, std::nullopt, {}, true, false}, {},
                          {});
          },
          [this, held, batch](const caf::error& why) {
            --ends_out_;
            auto e = from_caf(why);
            keep_for_later(*batch, e);
            answer_client(*held, turn::finished{std::nullopt, e, {}, false, false}, {}, {});
          });
}

// -- ends that could not be stored ------------------------------------------------------------------
// Stores the end of a run outside of any turn; kept and tried again where the disk is still full.
void context_runner::write_step(turn::step_commit step) {
  auto batch = std::make_shared<turn::step_commit>(std::move(step));
  auto apply = [batch, env = deps_->env](storage::transaction& t) {
    return storage::apply_step(t, *batch, *env);
  };
  ++ends_out_;
  self_->request(deps_->store, caf::infinite, write{"run.end", std::move(apply)})
      .then([this](done) { --ends_out_; },
            [this, batch](const caf::error& why) {
              --ends_out_;
              keep_for_later(*batch, from_caf(why));
            });
}

// The end of a run has to be stored some time, unless the run is gone or has ended already.
void context_runner::keep_for_later(turn::step_commit end, const error& why) {
  if (why.code != errc::storage_full && why.code != errc::unavailable) return;
  unfinished_.push_back(std::move(end));
  keep_ticking();
}

// A run must not stay open because the disk was full when it ended.
void context_runner::retry_unfinished() {
  for (auto& batch : std::exchange(unfinished_, {})) write_step(std::move(batch));
}

} // namespace troupe::actors
