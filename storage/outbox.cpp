#include "storage/outbox.hpp"

#include "storage/runs.hpp"
#include "storage/tables.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

promise kind_of(const turn_order& o) {
  if (!o.part_of) return o.group ? promise::group : promise::background;
  if (!o.part_of->is_awaited) return promise::message;
  return o.is_background_work() ? promise::companion : promise::group_turn;
}

} // namespace

std::vector<promised_turn> promised_turns(const reader& r, const org_id& org) {
  std::vector<promised_turn> out;
  r.scan_prefix(key(table::pending_turns), reader::direction::forward, [&](auto, auto record) {
    auto order = codec::decode<turn_order>(record);
    if (order && order->acting.org == org)
      out.push_back({order->run_row.id, order->agent, kind_of(*order), order->run_row.created_at});
    return true;
  });
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.since < b.since; });
  return out;
}

} // namespace troupe::storage
