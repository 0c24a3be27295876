#include "actors/store_writer.hpp"

namespace troupe::actors {

namespace {

void commit_all(store_writer_state& state, storage::database& db) {
  auto batches = std::exchange(state.batches, {});
  auto kept = std::exchange(state.kept, {});
  auto promises = std::exchange(state.promises, {});
  std::vector<result<void>> results;
  guarded(
      "store.commit", [&] { results = db.commit(batches); },
      [&](const error& e) { results.assign(batches.size(), result<void>(e)); });
  for (std::size_t i = 0; i < promises.size(); ++i) {
    if (results[i])
      promises[i].deliver(done{});
    else
      promises[i].deliver(results[i].error());
  }
}

} // namespace

store_actor::behavior_type store_writer(store_actor::stateful_pointer<store_writer_state> self,
                                        const std::shared_ptr<storage::database>& db) {
  return {
      [=](const write& w) -> caf::typed_response_promise<done> {
        auto promise = self->make_response_promise<done>();
        auto& state = self->state;
        auto kept = std::make_shared<const write>(w);
        state.batches.push_back({kept->name, kept->apply});
        state.kept.push_back(std::move(kept));
        state.promises.emplace_back(promise);
        if (state.batches.size() >= max_group) {
          commit_all(state, *db);
        } else if (!std::exchange(state.flush_pending, true)) {
          self->send(self, flush_atom{});
        }
        return promise;
      },
      [=](flush_atom) {
        self->state.flush_pending = false;
        if (!self->state.batches.empty()) commit_all(self->state, *db);
      },
      [=](status_atom) {
        return actor_status{"store", self->state.batches.size(), 0, 1};
      },
  };
}

} // namespace troupe::actors
