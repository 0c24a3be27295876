#include "actors/directory.hpp"

namespace troupe::actors {

agent_actor context_directory::activate() { return self_->spawn<caf::lazy_init>(agent_context, deps_); }

void context_directory::with_context(const uuid& context, std::function<void(const agent_actor&)> use) {
  auto& e = contexts_[context];
  e.last_used_ns = deps_->env->monotonic_ns();
  if (e.retiring) {
    e.held.push_back(std::move(use));
    return;
  }
  if (!e.handle) e.handle = activate();
  use(e.handle);
}

void context_directory::submit(const turn_order_ptr& order, caf::typed_response_promise<turn_answer> answer) {
  auto context = order->conversation ? order->conversation->value : order->agent.value;
  with_context(context, [order, answer](const agent_actor& a) mutable { answer.delegate(a, order); });
}

void context_directory::edit(const uuid& context, const exclusive_edit& e,
                             caf::typed_response_promise<done> answer) {
  with_context(context, [e, answer](const agent_actor& a) mutable { answer.delegate(a, e); });
}

void context_directory::cancel(const uuid& context, const uuid& run,
                               caf::typed_response_promise<bool> answer) {
  auto it = contexts_.find(context);
  if (it == contexts_.end() || it->second.retiring) { // nothing runs where nobody is active
    answer.deliver(false);
    return;
  }
  // Ahead of whatever waits in the mailbox.
  answer.template delegate<caf::message_priority::high>(it->second.handle, cancel_atom_v, run);
}

void context_directory::tick() {
  auto now = deps_->env->monotonic_ns();
  auto idle_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(limits_.idle).count();
  for (auto& [context, e] : contexts_) {
    if (e.retiring || now - e.last_used_ns < idle_ns) continue;
    e.retiring = true;
    auto ask = [this, id = context](bool left) { retired(id, left); };
    self_->request(e.handle, caf::infinite, retire_atom_v).then(ask, [ask](const caf::error&) { ask(true); });
  }
}

// It left, or it has work: what arrived meanwhile goes to a new one, or to it.
void context_directory::retired(const uuid& context, bool left) {
  auto it = contexts_.find(context);
  if (it == contexts_.end()) return;
  auto held = std::exchange(it->second.held, {});
  it->second.retiring = false;
  if (!left) it->second.last_used_ns = deps_->env->monotonic_ns();
  if (left && held.empty()) {
    contexts_.erase(it);
    return;
  }
  if (left) it->second.handle = activate();
  auto handle = it->second.handle;
  for (auto& use : held) use(handle);
}

void context_directory::stop() {
  for (auto& [context, e] : contexts_) self_->send_exit(e.handle, caf::exit_reason::user_shutdown);
  contexts_.clear();
}

directory_actor::behavior_type directory(directory_actor::stateful_pointer<directory_state> self,
                                         agent_deps_ptr deps, directory_limits limits) {
  self->state.contexts = std::make_unique<context_directory>(self, std::move(deps), limits);
  auto* contexts = self->state.contexts.get();
  self->delayed_send(self, limits.tick, tick_atom{});
  return {
      [=](const turn_order_ptr& order) -> caf::typed_response_promise<turn_answer> {
        auto answer = self->make_response_promise<turn_answer>();
        contexts->submit(order, answer);
        return answer;
      },
      [=](const uuid& context, const exclusive_edit& e) -> caf::typed_response_promise<done> {
        auto answer = self->make_response_promise<done>();
        contexts->edit(context, e, answer);
        return answer;
      },
      [=](cancel_atom, const uuid& context, const uuid& run) -> caf::typed_response_promise<bool> {
        auto answer = self->make_response_promise<bool>();
        contexts->cancel(context, run, answer);
        return answer;
      },
      [=](tick_atom) {
        contexts->tick();
        self->delayed_send(self, limits.tick, tick_atom{});
      },
      [=](stop_atom) {
        contexts->stop();
        self->quit();
      },
      [=](status_atom) {
        return actor_status{"directory", 0, 0, contexts->resident()};
      },
  };
}

} // namespace troupe::actors
