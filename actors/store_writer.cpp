#include "actors/store_writer.hpp"

namespace troupe::actors {

void write_group::append(write_group&& other) {
  std::move(other.writes.begin(), other.writes.end(), std::back_inserter(writes));
  std::move(other.promises.begin(), other.promises.end(), std::back_inserter(promises));
  other = {};
}

namespace {

void commit_all(write_group& waiting, storage::database& db) {
  auto group = std::exchange(waiting, {});
  if (group.size() == 0) return;
  std::vector<storage::batch> batches;
  for (auto& w : group.writes) batches.push_back({w->name, w->apply});
  std::vector<result<void>> results;
  guarded(
      "store.commit", [&] { results = db.commit(batches); },
      [&](const error& e) { results.assign(batches.size(), result<void>(e)); });
  for (std::size_t i = 0; i < group.promises.size(); ++i) {
    if (results[i])
      group.promises[i].deliver(done{});
    else
      group.promises[i].deliver(results[i].error());
  }
}

// Keeps a batch where it belongs. What is committed together stays in the order in which it came.
void keep(store_writer_state& state, const write& w, reply<done> promise) {
  auto& group = w.due == write::when::later ? state.later : state.now;
  group.writes.push_back(std::make_shared<const write>(w));
  group.promises.push_back(std::move(promise));
  if (w.due == write::when::with_rest || state.later.size() >= max_later)
    state.now.append(std::move(state.later));
}

} // namespace

store_actor::behavior_type store_writer(store_actor::stateful_pointer<store_writer_state> self,
                                        const std::shared_ptr<storage::database>& db, const company& others) {
  auto commit_everything = [=] {
    self->state.now.append(std::move(self->state.later));
    commit_all(self->state.now, *db);
  };
  auto flush_soon = [=](const write& w) {
    auto& state = self->state;
    if (state.now.size() == 0) return;
    if (w.due != write::when::beside || others.wait.count() == 0) {
      if (!std::exchange(state.flush_pending, true)) self->send(self, flush_atom{});
    } else if (!std::exchange(state.timed_flush, true)) {
      self->delayed_send(self, others.wait, flush_atom{});
    }
  };
  // Nobody waits for what is here, and a turn in front will soon have something to store.
  auto waits_on = [=] {
    auto& state = self->state;
    return !state.flush_pending && state.now.size() > 0 && others.front->is_busy() &&
           ++state.waited < others.most;
  };
  self->set_exit_handler([=](const caf::exit_msg& m) {
    commit_everything();
    self->quit(m.reason);
  });
  return {
      [=](const write& w) -> caf::typed_response_promise<done> {
        auto promise = self->make_response_promise<done>();
        auto& state = self->state;
        if (w.due == write::when::later && state.later.size() == 0)
          self->delayed_send(self, longest_wait, caf::tick_atom_v);
        keep(state, w, reply<done>(promise));
        if (state.now.size() >= max_group)
          commit_all(state.now, *db);
        else
          flush_soon(w);
        return promise;
      },
      [=](flush_atom) {
        auto& state = self->state;
        state.timed_flush = waits_on();
        if (state.timed_flush) return self->delayed_send(self, others.wait, flush_atom{});
        state.flush_pending = false;
        state.waited = 0;
        commit_all(state.now, *db);
      },
      [=](tick_atom) { commit_everything(); },
      [=](status_atom) {
        return actor_status{"store", self->state.now.size(), 0, 1};
      },
  };
}

} // namespace troupe::actors
