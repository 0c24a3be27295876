#include "storage/traces.hpp"

namespace troupe::storage {

namespace {

// How much is kept. Traces that went with their runs are counted until they are the oldest.
struct trace_totals {
  std::uint64_t count = 0, bytes = 0;
};
BOOST_DESCRIBE_STRUCT(trace_totals, (), (count, bytes))

key totals_key() { return key(table::trace_totals); }
key age_key(const provider_trace& trace) {
  return key(table::traces_by_age).add(trace.created_at).add(trace.step);
}

bool too_much(const trace_totals& now, const trace_limits& limits) {
  return now.count > limits.most || now.bytes > limits.most_bytes;
}

void forget_oldest(transaction& t, trace_totals& now, const trace_limits& limits) {
  std::vector<std::pair<std::string, std::uint64_t>> oldest;
  auto left = now;
  t.scan_prefix(key(table::traces_by_age), reader::direction::forward,
                [&](std::string_view k, std::string_view v) {
                  if (!too_much(left, limits)) return false;
                  --left.count;
                  left.bytes -= number_at(v, 0);
                  return oldest.emplace_back(k, number_at(v, 0)), true;
                });
  for (auto& [k, size] : oldest) {
    t.erase(key(table::traces).add(last_uuid(k)));
    t.erase(k);
  }
  now = left;
}

} // namespace

void put_trace(transaction& t, const provider_trace& trace, const trace_limits& limits) {
  auto bytes = codec::encode(trace);
  if (limits.most == 0 || bytes.size() > limits.most_bytes) return;
  t.put(key(table::traces).add(trace.step), bytes);
  t.put(age_key(trace), big_endian(bytes.size()));
  auto now = load<trace_totals>(t, totals_key()).value_or(trace_totals{});
  ++now.count;
  now.bytes += bytes.size();
  if (too_much(now, limits)) forget_oldest(t, now, limits);
  save(t, totals_key(), now);
}

std::optional<provider_trace> find_trace(const reader& r, const step_id& step, const org_id& org) {
  return of_org(load<provider_trace>(r, key(table::traces).add(step)), org);
}

} // namespace troupe::storage
