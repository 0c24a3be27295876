// Lets companions work while nobody waits (reference: groups §7.6). It keeps nothing: what there is to do is in the
// store, and an actor that begins anew does the same next thing. A hint or the clock makes it look there.
//
//   due -> a pause of the turns in front -> claim (one batch) -> order to the companion's mailbox -> its end (one
//   batch, with the turn's last step)           └─ a failure that may pass: put off (one batch), due again
#pragma once

#include "actors/agent.hpp"
#include "storage/sleeptime_claims.hpp"

#include <map>

namespace troupe::actors {

struct sleeper_limits {
  std::size_t most = 4; // companions at work at once, so that those who are waited for get their models
  std::chrono::milliseconds tick{1'000};
  std::chrono::milliseconds longest_sleep{30'000};
  std::chrono::minutes deadline{60}; // of one turn of a companion
  // Companions begin when no turn was in front for so long, or after so many times as long.
  std::chrono::milliseconds pause{3}; // 0: at once
  int most_pauses = 30;
};

struct sleeper_deps {
  std::shared_ptr<storage::database> db;
  environment* env = nullptr;
  store_actor store;
  std::shared_ptr<const foreground> front;
  sleeper_limits limits;
};

class companion_desk {
public:
  companion_desk(sleeper_actor::pointer self, sleeper_deps deps) : self_(self), deps_(std::move(deps)) {}

  void begin(directory_actor directory);
  void look(); // for what is due
  void tick();
  actor_status status() const { return {"sleeper", 0, at_work_.size(), 0}; }

private:
  using job = storage::sleeptime_job;

  std::vector<job> due_now() const;
  void take_up(const job& seen);
  void claim(const job& j);
  void begin_when_quiet();
  bool lets_others_go_first();
  void send(const job& j, const turn_order_ptr& order);
  void ended(const job& before, const turn_order_ptr& order, const error& why);
  void failed(const job& j, const turn_order_ptr& order, const error& why);
  void give_up(const job& j, const turn_order_ptr& order, const error& why);
  void mend(const job& j);
  void store(const std::string& name, std::function<result<void>(storage::transaction&)> apply, const job& j,
             const std::function<void()>& then = nullptr);
  void done_with(const job& j);
  void call_off();
  void wake_in(std::chrono::nanoseconds wait);
  void sleep();

  sleeper_actor::pointer self_;
  sleeper_deps deps_;
  directory_actor directory_;
  std::map<std::string, std::optional<turn_order_ptr>> at_work_; // by place; the order, once it is sent
  std::optional<std::int64_t> wakes_ns_;                         // monotonic
  std::vector<job> ready_;                                       // they begin in a pause
  // While some are ready:
  int looked_ = 0;                           // so many times for a pause
  std::int64_t looks_again_ns_ = 0;          // monotonic
  std::optional<std::uint64_t> quiet_after_; // so many turns, where none was in front when it looked
};

struct sleeper_state {
  sleeper_state() = default; // not an aggregate
  static inline const char* name = "sleeper";
  std::unique_ptr<companion_desk> desk;
};

sleeper_actor::behavior_type sleeper(sleeper_actor::stateful_pointer<sleeper_state> self, sleeper_deps deps);

} // namespace troupe::actors
