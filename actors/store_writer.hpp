// The store's writer: one detached actor that commits in groups. A batch that arrives is kept with its promise, and the
// actor sends itself a flush; all batches that are in the mailbox by then are handled first, so that a group forms by
// itself, without a timer.
#pragma once

#include "actors/actors.hpp"

namespace troupe::actors {

struct store_writer_state {
  store_writer_state() = default; // not an aggregate (C++20 would build it from `self`)
  static inline const char* name = "store";
  std::vector<storage::batch> batches;
  std::vector<std::shared_ptr<const write>> kept; // what the names and functions of `batches` refer to
  std::vector<reply<done>> promises;
  bool flush_pending = false;
};

inline constexpr std::size_t max_group = 1024; // batches in one commit

store_actor::behavior_type store_writer(store_actor::stateful_pointer<store_writer_state> self,
                                        const std::shared_ptr<storage::database>& db);

} // namespace troupe::actors
