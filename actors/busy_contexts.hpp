// The contexts that have something to watch: a turn, a queue, ends of runs to be stored. The directory wakes them, all
// with one timer; a timer of its own for each of them costs a wake-up of CAF's clock for every turn.
//
// Shared by all actors of a process.
#pragma once

#include "actors/actors.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace troupe::actors {

class busy_contexts {
public:
  void add(const agent_actor& who) {
    std::lock_guard hold(lock_);
    all_.emplace(who.address().id(), who);
  }
  void remove(caf::actor_id who) {
    std::lock_guard hold(lock_);
    all_.erase(who);
  }
  std::vector<agent_actor> all() const {
    std::lock_guard hold(lock_);
    std::vector<agent_actor> out;
    for (auto& [id, who] : all_) out.push_back(who);
    return out;
  }

private:
  mutable std::mutex lock_;
  std::map<caf::actor_id, agent_actor> all_;
};

} // namespace troupe::actors
