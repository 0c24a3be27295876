// How turns end: told to the client, cancelled, or stored later because the disk was full.
#include "actors/agent.hpp"
#include "actors/group_answer.hpp"

#include <algorithm>

namespace troupe::actors {

turn::step_commit end_of(const run& row, turn::run_end how) {
  turn::step_commit end;
  end.agent = row.agent;
  end.conversation = row.conversation;
  end.run = row.id;
  end.end = std::move(how);
  return end;
}

turn::step_commit failed_end(const run& row, const std::string& why, std::optional<stop_reason> reason) {
  auto end = end_of(row, {run_status::failed, reason, {}});
  end.end->metadata["error"] = boost::json::string(why);
  return end;
}

// Tells the client how its turn ended, and whoever cancelled it.
void context_runner::answer_client(job& work, const turn::finished& e,
                                   const std::vector<turn::stored_message>& shown,
                                   const project::options& view, std::int64_t tokens) {
  auto& order = *work.order;
  if (turn::has_events(order.how)) {
    publish_frames(order.run_row.id,
                   turn::closing_frames(e, order.run_row.id, order.how, e.visible, order.tokens), true);
  } else if (!e.body.empty()) {
    work.deliver(turn_answer{e.body, std::nullopt, 0});
  } else if (order.part_of && !e.failure) {
    work.deliver(
        turn_answer{{}, order.run_row.id, tokens}); // whoever gave the errand reads what became of it
  } else if (order.group && order.how == turn::mode::blocking && !e.failure) {
    work.deliver(turn_answer{group_answer(*deps_->db->snapshot(), order, e), order.run_row.id, tokens});
  } else if (order.how == turn::mode::blocking && !e.failure) {
    work.deliver(turn_answer{turn::response_body(shown, e, view, order.request.include_return_message_types),
                             order.run_row.id, tokens});
  }
  // Where it was a stream: refused before its run was durable; otherwise its client has been answered by now.
  if (e.failure) work.deliver(*e.failure);
  if (order.run_row.callback_url || order.run_row.batch)
    self_->send(deps_->streams, callback_atom_v, order.run_row.id.value);
  for (auto& waiting : work.cancels) waiting.deliver(true);
}

void context_runner::carry_out(turn::finished e) {
  auto turn_done = std::move(*running_);
  auto tokens = e.usage.total_tokens + turn_done.tokens_of_others;
  deps_->waits->forget(turn_done.work.order->context());
  running_.reset();
  ++epoch_;
  auto& order = *turn_done.work.order;
  if (!e.durable && e.failure && !order.compaction && e.failure->code != errc::storage_full &&
      e.failure->code != errc::unavailable && e.failure->code != errc::cancelled) {
    // The turn broke before it could end its own run.
    bool blocks = order.how == turn::mode::blocking;
    auto end = failed_end(order.run_row, e.failure->message,
                          blocks ? std::nullopt : std::optional(stop_reason::error));
    store_end("run.end", std::move(end));
  }
  answer_client(turn_done.work, e, turn_done.shown,
                turn_done.machine ? turn_done.machine->view() : project::options{}, tokens);
  start_next();
}

// -- cancelling -----------------------------------------------------------------------------------
void context_runner::cancel(const run_id& run, reply<bool> answer) {
  auto* work = find_job(run);
  if (!work) return answer.deliver(false);
  work->cancels.push_back(std::move(answer));
  if (auto waiting = take_queued(run)) return end_queued(std::move(*waiting));
  feed(turn::cancel{});
}

// A turn that never began: nothing of it is stored but its end.
void context_runner::end_queued(job work) {
  auto end = end_of(work.order->run_row, {run_status::cancelled, stop_reason::cancelled, {}});
  auto held = std::make_shared<job>(std::move(work));
  store_end("run.cancel", std::move(end), [this, held](const error* failure) {
    if (failure)
      answer_client(*held, turn::finished{std::nullopt, *failure, {}, false, false}, {}, {});
    else
      answer_client(*held, turn::finished{stop_reason::cancelled, std::nullopt, {}, true, false}, {}, {});
  });
}

// -- ends that could not be stored ------------------------------------------------------------------
// Stores the end of a run outside of any turn; kept and tried again where the disk is still full. `then` hears of it.
void context_runner::store_end(std::string name, turn::step_commit end,
                               const std::function<void(const error*)>& then) {
  auto batch = std::make_shared<turn::step_commit>(std::move(end));
  auto apply = [batch, env = deps_->env](storage::transaction& t) {
    return storage::apply_step(t, *batch, *env);
  };
  ++ends_out_;
  self_->request(deps_->store, caf::infinite, write{std::move(name), std::move(apply)})
      .then(
          [this, then](done) {
            --ends_out_;
            if (then) then(nullptr);
          },
          [this, batch, then](const caf::error& why) {
            --ends_out_;
            auto e = from_caf(why);
            keep_for_later(*batch, e);
            if (then) then(&e);
          });
}

// The end of a run has to be stored some time, unless the run is gone or has ended already.
void context_runner::keep_for_later(turn::step_commit end, const error& why) {
  if (why.code != errc::storage_full && why.code != errc::unavailable) return;
  unfinished_.push_back(std::move(end));
  watch_deadlines();
}

// A run must not stay open because the disk was full when it ended.
void context_runner::retry_unfinished() {
  for (auto& batch : std::exchange(unfinished_, {})) store_end("run.end", std::move(batch));
}

} // namespace troupe::actors
