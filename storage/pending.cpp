#include "storage/pending.hpp"

#include "storage/jobs.hpp"

#include <algorithm>

namespace troupe::storage {

void put_pending(transaction& t, const turn_order& order) {
  save(t, key(table::pending_turns).add(order.run_row.id), order);
}

void promise_turn(transaction& t, const turn_order& order) {
  create_run(t, order.run_row);
  put_pending(t, order);
}

bool is_pending(const reader& r, const run_id& run) {
  auto order = load<turn_order>(r, key(table::pending_turns).add(run));
  if (!order) return false;
  if (!order->part_of || !order->part_of->owner) return true;
  auto owner = find_run(r, *order->part_of->owner);
  return owner && !is_terminal(owner->status);
}

namespace {

// What its steps stored is taken off the order. Nothing where its run has ended.
std::shared_ptr<turn_order> resumed_order(const reader& r, std::string_view record) {
  auto order = codec::decode<turn_order>(record);
  auto row = order ? find_run(r, order->run_row.id) : std::nullopt;
  if (!row || is_terminal(row->status)) return nullptr;
  order->resumed = true;
  order->run_row = *row;
  if (row->first_sequence != 0) order->request.messages.clear(); // stored with the first step
  order->request.max_steps -= static_cast<std::int64_t>(row->steps.size());
  return std::make_shared<turn_order>(std::move(*order));
}

} // namespace

std::shared_ptr<const turn_order> pending_order(const reader& r, const run_id& run) {
  auto record = r.get(key(table::pending_turns).add(run));
  return record ? resumed_order(r, *record) : nullptr;
}

std::vector<std::shared_ptr<const turn_order>> pending_orders(const reader& r) {
  std::vector<std::string> records;
  r.scan_prefix(key(table::pending_turns), reader::direction::forward,
                [&](auto, auto record) { return records.emplace_back(record), true; });
  std::vector<std::shared_ptr<const turn_order>> out;
  for (auto& record : records)
    if (auto order = resumed_order(r, record); order && !(order->part_of && order->part_of->is_awaited))
      out.push_back(std::move(order));
  // One that had begun goes on before those that wait behind it, whatever the clock said.
  auto turn_of = [](auto& o) { return std::pair(o->run_row.first_sequence == 0, o->run_row.created_at); };
  std::sort(out.begin(), out.end(), [&](auto& a, auto& b) { return turn_of(a) < turn_of(b); });
  return out;
}

std::vector<due_callback> callbacks_due(const reader& r) {
  std::vector<due_callback> out;
  r.scan_prefix(key(table::callbacks_due), reader::direction::forward, [&](auto k, auto which) {
    return out.push_back({last_uuid(k), !which.empty()}), true;
  });
  return out;
}

bool is_due(const reader& r, const due_callback& c) {
  return r.get(key(table::callbacks_due).add(c.id)).has_value();
}

void record_callback(transaction& t, const due_callback& c, timestamp now, std::optional<std::int64_t> status,
                     std::optional<std::string> failure) {
  t.erase(key(table::callbacks_due).add(c.id));
  auto note = [&](auto row, auto put) {
    if (!row) return; // deleted meanwhile
    row->callback_sent_at = naive_timestamp{now.us};
    row->callback_status_code = status;
    row->callback_error = failure;
    put(t, *row);
  };
  if (c.is_job)
    note(find_job(t, job_id{c.id}), [](auto& to, auto& row) { put_job(to, row); });
  else
    note(find_run(t, run_id{c.id}), put_run);
}

} // namespace troupe::storage
