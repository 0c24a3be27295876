#include "actors/directory.hpp"

#include <algorithm>

namespace troupe::actors {

agent_actor context_directory::activate() {
  return self_->spawn<caf::lazy_init + caf::monitored>(agent_context, deps_, directory_actor(self_));
}

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
  with_context(order->context(),
               [order, answer](const agent_actor& a) mutable { answer.delegate(a, order); });
}

void context_directory::edit(const uuid& context, const exclusive_edit& e,
                             caf::typed_response_promise<done> answer) {
  with_context(context, [e, answer](const agent_actor& a) mutable { answer.delegate(a, e); });
}

void context_directory::cancel(const uuid& context, const uuid& run,
                               caf::typed_response_promise<bool> answer) {
  auto it = contexts_.find(context);
  if (it == contexts_.end()) { // nothing runs where nobody is active
    answer.deliver(false);
    return;
  }
  // Ahead of whatever waits in the mailbox. Not delegated: CAF loses the answer to a delegation that raises the
  // priority. One that is asked to leave answers as well: before it leaves, or it had nothing to cancel. Where the
  // turn itself still waits in the mailbox, it was overtaken: so a context that knows nothing is asked again, in turn.
  auto lost = [answer](const caf::error&) mutable { answer.deliver(false); };
  auto asked = it->second.handle;
  auto again = [this, answer, lost, asked, run](bool here) mutable -> void {
    if (here) {
      answer.deliver(true);
      return;
    }
    self_->request(asked, caf::infinite, cancel_atom_v, run)
        .then([answer](bool found) mutable { answer.deliver(found); }, lost);
  };
  self_->request<caf::message_priority::high>(asked, caf::infinite, cancel_atom_v, run).then(again, lost);
}

void context_directory::tick() {
  for (auto& busy : deps_->busy->all()) self_->send(busy, tick_atom{});
  retire_idle();
}

void context_directory::retire_idle() {
  auto now = deps_->env->monotonic_ns();
  if (now < next_idle_check_ns_) return;
  next_idle_check_ns_ = now + std::chrono::nanoseconds(limits_.idle_check).count();
  auto idle_ns = std::chrono::nanoseconds(limits_.idle).count();
  for (auto& [context, e] : contexts_) {
    if (e.retiring || now - e.last_used_ns < idle_ns) continue;
    e.retiring = true;
    auto answered = [this, id = context, asked = e.handle](bool left) { retired(id, asked, left); };
    self_->request(e.handle, caf::infinite, retire_atom_v).then(answered, [answered](const caf::error&) {
      answered(true);
    });
  }
}

// It left, or it has work: what arrived meanwhile goes to a new one, or to it.
void context_directory::retired(const uuid& context, const agent_actor& asked, bool left) {
  auto it = contexts_.find(context);
  if (it == contexts_.end() || it->second.handle != asked) return; // another one by now
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

// An actor died of an exception. The next request finds a new one; the runs it had end as failed, before anything that
// the new one stores.
void context_directory::lost(const caf::down_msg& who) {
  if (!who.reason) return; // left when it was asked to
  auto it = std::find_if(contexts_.begin(), contexts_.end(),
                         [&](auto& c) { return c.second.handle.address() == who.source; });
  if (it == contexts_.end()) return;
  deps_->waits->forget(it->first);
  deps_->busy->remove(who.source.id());
  spdlog::error("the actor of context {} died: {}", it->first.str(), caf::to_string(who.reason));
  auto apply = [context = it->first, env = deps_->env](storage::transaction& t) -> result<void> {
    storage::recover_runs(t, *env, context);
    return {};
  };
  self_->request(deps_->store, caf::infinite, write{"run.orphans", std::move(apply)})
      .then([](done) {}, [](const caf::error& e) { spdlog::error("run.orphans: {}", from_caf(e).message); });
  auto held = std::exchange(it->second.held, {});
  it->second = {};
  for (auto& use : held) with_context(it->first, use);
}

void context_directory::stop() {
  for (auto& [context, e] : contexts_) self_->send_exit(e.handle, caf::exit_reason::user_shutdown);
  contexts_.clear();
}

directory_actor::behavior_type directory(directory_actor::stateful_pointer<directory_state> self,
                                         agent_deps_ptr deps, directory_limits limits) {
  self->state.contexts = std::make_unique<context_directory>(self, std::move(deps), limits);
  auto* contexts = self->state.contexts.get();
  self->set_down_handler([=](const caf::down_msg& who) { contexts->lost(who); });
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
