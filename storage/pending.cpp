#include "storage/pending.hpp"

#include <algorithm>

namespace troupe::storage {

void put_pending(transaction& t, const turn_order& order) {
  save(t, key(table::pending_turns).add(order.run_row.id), order);
}

bool is_pending(const reader& r, const run_id& run) {
  return r.get(key(table::pending_turns).add(run)).has_value();
}

std::vector<std::shared_ptr<const turn_order>> pending_orders(const reader& r) {
  std::vector<std::shared_ptr<turn_order>> found;
  r.scan_prefix(key(table::pending_turns), reader::direction::forward, [&](auto, auto record) {
    if (auto order = codec::decode<turn_order>(record))
      found.push_back(std::make_shared<turn_order>(std::move(*order)));
    return true;
  });
  std::vector<std::shared_ptr<const turn_order>> out;
  for (auto& order : found) {
    auto row = find_run(r, order->run_row.id);
    if (!row || is_terminal(row->status)) continue;
    order->resumed = true;
    order->run_row = *row;
    if (row->first_sequence != 0) order->request.messages.clear(); // stored with the first step
    order->request.max_steps -= static_cast<std::int64_t>(row->steps.size());
    out.push_back(std::move(order));
  }
  // One that had begun goes on before those that wait behind it, whatever the clock said.
  auto turn_of = [](auto& o) { return std::pair(o->run_row.first_sequence == 0, o->run_row.created_at); };
  std::sort(out.begin(), out.end(), [&](auto& a, auto& b) { return turn_of(a) < turn_of(b); });
  return out;
}

std::vector<run_id> callbacks_due(const reader& r) {
  std::vector<run_id> out;
  r.scan_prefix(key(table::callbacks_due), reader::direction::forward,
                [&](auto k, auto) { return out.emplace_back(last_uuid(k)), true; });
  return out;
}

void record_callback(transaction& t, const run_id& id, timestamp now, std::optional<std::int64_t> status,
                     std::optional<std::string> failure) {
  t.erase(key(table::callbacks_due).add(id));
  auto row = find_run(t, id);
  if (!row) return; // deleted meanwhile
  row->callback_sent_at = naive_timestamp{now.us};
  row->callback_status_code = status;
  row->callback_error = std::move(failure);
  put_run(t, *row);
}

} // namespace troupe::storage
