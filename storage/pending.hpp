// Turns that go on after a restart, and calls back that are owed: rows written in the batch that promised them
// (design: a transactional outbox).
#pragma once

#include "storage/runs.hpp"
#include "storage/turns.hpp"

namespace troupe::storage {

// A turn that will be: its run, and the order that outlives a restart.
void promise_turn(transaction& t, const turn_order& order);
// Kept until the run ends (put_run).
void put_pending(transaction& t, const turn_order& order);
// Of those that have not ended, oldest first; what their steps stored is taken off the order. Errands are left out: who
// gave them gives them again.
std::vector<std::shared_ptr<const turn_order>> pending_orders(const reader& r);
std::shared_ptr<const turn_order> pending_order(const reader& r, const run_id& run); // the same of one run
// It goes on after a restart: by itself, or because somebody waits for it who does.
bool is_pending(const reader& r, const run_id& run);

// What has ended, a run or a job, and whose client is still to be called.
struct due_callback {
  uuid id;
  bool is_job = false;
};
std::vector<due_callback> callbacks_due(const reader& r);
bool is_due(const reader& r, const due_callback& c);
// What became of it.
void record_callback(transaction& t, const due_callback& c, timestamp now, std::optional<std::int64_t> status,
                     std::optional<std::string> failure);

} // namespace troupe::storage
