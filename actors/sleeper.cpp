#include "actors/sleeper.hpp"

#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::actors {

using std::chrono::nanoseconds;
using storage::place_of;

void companion_desk::begin(directory_actor directory) {
  directory_ = std::move(directory);
  look();
}

// -- what is due ----------------------------------------------------------------------------------
void companion_desk::look() {
  if (!directory_) return;
  auto due = due_now();
  for (auto& j : due) at_work_[place_of(j)];
  bool waits_already = !ready_.empty(); // then they begin with those
  std::move(due.begin(), due.end(), std::back_inserter(ready_));
  if (!waits_already) begin_when_quiet();
  sleep();
}

std::vector<companion_desk::job> companion_desk::due_now() const {
  std::vector<job> out;
  auto room = deps_.limits.most - std::min(deps_.limits.most, at_work_.size());
  if (room == 0) return out;
  storage::due_jobs(*deps_.db->snapshot(), deps_.env->now(), [&](job j) {
    if (!at_work_.contains(place_of(j))) out.push_back(std::move(j));
    return out.size() < room;
  });
  return out;
}

// -- a pause of the turns in front ------------------------------------------------------------------
void companion_desk::begin_when_quiet() {
  if (ready_.empty() || lets_others_go_first()) return;
  for (auto& j : std::exchange(ready_, {})) {
    // One that cannot even be read stays aside, until the server starts anew.
    guarded("sleeper.take_up", [&] { take_up(j); });
  }
}

bool companion_desk::lets_others_go_first() {
  auto now = deps_.env->monotonic_ns();
  if (looked_ > 0 && now < looks_again_ns_) return wake_in(nanoseconds{looks_again_ns_ - now}), true;
  auto turns = deps_.front->entered();
  auto quiet_before = std::exchange(quiet_after_, std::nullopt);
  if (!deps_.front->is_busy()) quiet_after_ = turns;
  bool is_quiet = quiet_after_ && quiet_before == turns;
  if (is_quiet || deps_.limits.pause.count() == 0 || looked_ == deps_.limits.most_pauses) {
    looked_ = 0;
    quiet_after_.reset();
    return false;
  }
  ++looked_;
  looks_again_ns_ = now + nanoseconds{deps_.limits.pause}.count();
  return wake_in(deps_.limits.pause), true;
}

// -- one of them ------------------------------------------------------------------------------------
void companion_desk::take_up(const job& seen) {
  auto snapshot = deps_.db->snapshot();
  auto j = storage::find_job(*snapshot, seen); // as it is by now
  if (!j || !j->due()) return done_with(seen);
  if (!j->working) return claim(*j);
  if (auto order = storage::order_of(*snapshot, *j)) return send(*j, order);
  mend(*j);
}

void companion_desk::claim(const job& j) {
  auto made = storage::make_claim(*deps_.db->snapshot(), j, *deps_.env);
  if (!made) {
    auto drop = [j, env = deps_.env](storage::transaction& t) { return storage::drop_waiting(t, j, *env); };
    return store("sleeptime.drop", std::move(drop), j);
  }
  auto c = std::make_shared<const storage::sleeptime_claim>(std::move(*made));
  auto apply = [c](storage::transaction& t) { return storage::store_claim(t, *c); };
  store("sleeptime.claim", std::move(apply), j,
        [this, c, j] { send(j, std::make_shared<const storage::turn_order>(c->order)); });
}

void companion_desk::send(const job& j, const turn_order_ptr& order) {
  auto timed = std::make_shared<storage::turn_order>(*order);
  auto deadline = std::chrono::microseconds(deps_.limits.deadline).count();
  timed->part_of->deadline = timestamp{deps_.env->now().us + deadline};
  turn_order_ptr sent = std::move(timed);
  at_work_[place_of(j)] = sent;
  self_->request(directory_, caf::infinite, sent)
      .then(
          [this, j, sent](const turn_answer&) {
            ended(j, sent, fail(errc::internal, "The turn ended without its run"));
          },
          [this, j, sent](const caf::error& why) { ended(j, sent, from_caf(why)); });
}

// -- ends -----------------------------------------------------------------------------------------
// Where the turn ended its run, the job was settled in the same batch. Otherwise something failed that may pass.
void companion_desk::ended(const job& before, const turn_order_ptr& order, const error& why) {
  auto now = storage::find_job(*deps_.db->snapshot(), before);
  if (!now || !now->working || now->working->run != order->run_row.id) return done_with(before);
  if (!storage::order_of(*deps_.db->snapshot(), *now)) return mend(*now);
  failed(*now, order, why);
}

void companion_desk::failed(const job& j, const turn_order_ptr& order, const error& why) {
  auto tries = j.working->tries;
  auto random = storage::number_at(deps_.env->random_uuid().view(), 0);
  auto wait = sleeptime::wait_after(tries, why, random);
  if (!wait) return give_up(j, order, why);
  spdlog::info("run {} of companion {} is tried again: {}", order->run_row.id.str(), j.companion.str(),
               why.message);
  auto until = timestamp{deps_.env->now().us + wait->count()};
  auto apply = [j, tries, until, text = why.message](storage::transaction& t) {
    return storage::put_off(t, j, tries, until, text);
  };
  store("sleeptime.put_off", std::move(apply), j);
}

void companion_desk::give_up(const job& j, const turn_order_ptr& order, const error& why) {
  auto end = std::make_shared<turn::step_commit>(failed_end(order->run_row, why.message));
  end->last_stop_reason = stop_reason::error;
  auto apply = [end, env = deps_.env](storage::transaction& t) { return storage::apply_step(t, *end, *env); };
  store("sleeptime.give_up", std::move(apply), j);
}

// A run that ended without its job, or is gone.
void companion_desk::mend(const job& j) {
  auto apply = [j](storage::transaction& t) -> result<void> {
    auto now = storage::find_job(t, j);
    if (!now || !now->working) return {};
    if (auto row = storage::find_run(t, now->working->run); row && is_terminal(row->status)) {
      storage::run_ended(t, *row);
    } else {
      now->working.reset();
      storage::put_job(t, *now);
    }
    return {};
  };
  store("sleeptime.mend", std::move(apply), j);
}

// Without `then` the job is let go, to be looked at again.
void companion_desk::store(const std::string& name, std::function<result<void>(storage::transaction&)> apply,
                           const job& j, const std::function<void()>& then) {
  self_->request(deps_.store, caf::infinite, write{name, std::move(apply), write::when::beside})
      .then(
          [this, j, then](done) {
            if (then)
              then();
            else
              done_with(j);
          },
          [this, j, name](const caf::error& why) {
            auto e = from_caf(why);
            if (e.code == errc::conflict || e.code == errc::cancelled) return done_with(j);
            spdlog::warn("{}: {}", name, e.message);
            at_work_.erase(place_of(j)); // with the next tick
            wake_in(deps_.limits.tick);
          });
}

void companion_desk::done_with(const job& j) {
  at_work_.erase(place_of(j));
  look();
}

// -- the clock ------------------------------------------------------------------------------------
void companion_desk::tick() {
  if (wakes_ns_ && deps_.env->monotonic_ns() < *wakes_ns_) return; // it was to wake then, and now does sooner
  wakes_ns_.reset();
  begin_when_quiet();
  call_off();
  look();
}

// Turns whose runs were ended by others: nobody wants the model's answer.
void companion_desk::call_off() {
  auto snapshot = deps_.db->snapshot();
  for (auto& [place, order] : at_work_) {
    if (!order) continue;
    auto& run = (*order)->run_row.id;
    auto row = storage::find_run(*snapshot, run);
    if (row && !is_terminal(row->status)) continue;
    self_->request(directory_, caf::infinite, cancel_atom_v, (*order)->context(), run.value)
        .then([](bool) {}, [](const caf::error&) {});
  }
}

void companion_desk::wake_in(nanoseconds wait) {
  wait = std::max<nanoseconds>(wait, std::chrono::milliseconds{1});
  auto when = deps_.env->monotonic_ns() + wait.count();
  if (wakes_ns_ && *wakes_ns_ <= when) return;
  wakes_ns_ = when;
  self_->delayed_send(self_, wait, tick_atom{});
}

// Until the next job is due; what is at work is looked after meanwhile.
void companion_desk::sleep() {
  if (!at_work_.empty()) wake_in(deps_.limits.tick);
  auto due = storage::next_due(*deps_.db->snapshot());
  auto wait = std::chrono::microseconds(due ? due->us - deps_.env->now().us : 0);
  if (wait.count() > 0) wake_in(std::min<nanoseconds>(wait, deps_.limits.longest_sleep));
}

// -- behaviour ------------------------------------------------------------------------------------
sleeper_actor::behavior_type sleeper(sleeper_actor::stateful_pointer<sleeper_state> self, sleeper_deps deps) {
  self->state.desk = std::make_unique<companion_desk>(self, std::move(deps));
  auto* desk = self->state.desk.get();
  return {
      [=](const caf::actor& directory) {
        guarded("sleeper.begin", [&] { desk->begin(caf::actor_cast<directory_actor>(directory)); });
      },
      [=](hint_atom) { guarded("sleeper.look", [&] { desk->look(); }); },
      [=](tick_atom) { guarded("sleeper.tick", [&] { desk->tick(); }); },
      [=](status_atom) { return desk->status(); },
  };
}

} // namespace troupe::actors
