// Finds the actor of a context, or activates it; retires those that have been idle for a while. All requests to
// contexts come through here, so that there is never more than one actor of a context: while one is asked to retire,
// what arrives for it waits.
#pragma once

#include "actors/agent.hpp"

#include <unordered_map>

namespace troupe::actors {

struct directory_limits {
  std::chrono::milliseconds idle{60'000};      // after which a context is passivated
  std::chrono::milliseconds tick{1'000};       // how often busy contexts look at their deadlines
  std::chrono::milliseconds idle_check{5'000}; // how often it looks for idle ones
};

class context_directory {
public:
  context_directory(directory_actor::pointer self, agent_deps_ptr deps, directory_limits limits)
      : self_(self), deps_(std::move(deps)), limits_(limits) {}

  void submit(const turn_order_ptr& order, caf::typed_response_promise<turn_answer> answer);
  void edit(const uuid& context, const exclusive_edit& e, caf::typed_response_promise<done> answer);
  void cancel(const uuid& context, const uuid& run, caf::typed_response_promise<bool> answer);
  void tick();
  void lost(const caf::down_msg& who);
  void stop();
  std::size_t resident() const noexcept { return contexts_.size(); }

private:
  struct entry {
    agent_actor handle;
    std::int64_t last_used_ns = 0;
    bool retiring = false;
    std::vector<std::function<void(const agent_actor&)>> held; // while it decides whether to leave
  };
  // Hands the actor to `use`, now or when it is known which one it is.
  void with_context(const uuid& context, std::function<void(const agent_actor&)> use);
  void retire_idle();
  void retired(const uuid& context, const agent_actor& asked, bool left);
  agent_actor activate();

  directory_actor::pointer self_;
  agent_deps_ptr deps_;
  directory_limits limits_;
  std::int64_t next_idle_check_ns_ = 0;
  std::unordered_map<uuid, entry> contexts_;
};

struct directory_state {
  directory_state() = default; // not an aggregate
  static inline const char* name = "directory";
  std::unique_ptr<context_directory> contexts;
};

directory_actor::behavior_type directory(directory_actor::stateful_pointer<directory_state> self,
                                         agent_deps_ptr deps, directory_limits limits);

} // namespace troupe::actors
