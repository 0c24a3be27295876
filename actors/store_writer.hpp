// The store's writer: one detached actor that commits in groups. A batch that arrives is kept with its promise, and the
// actor sends itself a flush; all batches that are in the mailbox by then are handled first, so that a group forms by
// itself, without a timer. What nobody waits for rides with the next commit that somebody waits for. What can wait is
// kept apart, and becomes part of a group when there is much of it, when it is asked for, when its time has come, or
// when the actor ends.
#pragma once

#include "actors/actors.hpp"
#include "actors/foreground.hpp"

namespace troupe::actors {

// Batches that wait for a commit.
struct write_group {
  std::vector<std::shared_ptr<const write>> writes;
  std::vector<reply<done>> promises;

  std::size_t size() const noexcept { return writes.size(); }
  void append(write_group&& other);
};

struct store_writer_state {
  store_writer_state() = default; // not an aggregate (C++20 would build it from `self`)
  static inline const char* name = "store";
  write_group now, later;
  bool flush_pending = false, timed_flush = false;
  int waited = 0; // how many times for company
};

// What is written beside others waits for them so long, and so many times as long while there are turns in front.
struct company {
  std::chrono::milliseconds wait{3}; // 0: not at all
  int most = 5;
  std::shared_ptr<const foreground> front;
};

inline constexpr std::size_t max_group = 1024; // batches in one commit
inline constexpr std::size_t max_later = 256;  // batches that wait for others
inline constexpr std::chrono::seconds longest_wait{1};

store_actor::behavior_type store_writer(store_actor::stateful_pointer<store_writer_state> self,
                                        const std::shared_ptr<storage::database>& db, const company& others);

} // namespace troupe::actors
