#include "storage/requests.hpp"

#include "storage/runs.hpp"

namespace troupe::storage {

namespace {

constexpr std::size_t forgotten_at_once =
    16; // more than one request adds: the table cannot grow beyond its hours

key by_otid(const org_id& org, std::string_view otid) {
  return std::move(key(table::requests).add(org).text(otid));
}

timestamp oldest(timestamp now) {
  return timestamp{now.us - std::chrono::microseconds(request_memory).count()};
}

void forget_old(transaction& t, timestamp now) {
  std::vector<std::string> keys;
  auto end = key(table::requests_by_age).add(oldest(now));
  t.scan(key(table::requests_by_age), end, reader::direction::forward, [&](auto k, auto) {
    keys.emplace_back(k);
    return keys.size() < forgotten_at_once;
  });
  for (auto& k : keys) {
    if (auto row = find_run(t, run_id{last_uuid(k)})) forget_request(t, *row);
    t.erase(k);
  }
}

} // namespace

void remember_request(transaction& t, const run& row) {
  if (row.otids.empty()) return;
  forget_old(t, row.created_at);
  for (auto& otid : row.otids) t.put(by_otid(row.organization_id, otid), row.id.key());
  t.put(key(table::requests_by_age).add(row.created_at).add(row.id), {});
}

void forget_request(transaction& t, const run& row) {
  for (auto& otid : row.otids) {
    auto k = by_otid(row.organization_id, otid);
    auto run = t.get(k);
    if (run && *run == row.id.key()) t.erase(k); // a newer one may have the same
  }
  if (!row.otids.empty()) t.erase(key(table::requests_by_age).add(row.created_at).add(row.id));
}

std::optional<run> run_of_otid(const reader& r, const org_id& org, std::string_view otid, timestamp now) {
  auto id = r.get(by_otid(org, otid));
  if (!id) return std::nullopt;
  auto row = find_run(r, run_id{uuid::from_bytes(*id)}, org);
  return row && row->created_at > oldest(now) ? row : std::nullopt;
}

std::optional<run> run_of_request(const reader& r, const run& like) {
  if (like.otids.empty()) return std::nullopt;
  auto row = run_of_otid(r, like.organization_id, like.otids.front(), like.created_at);
  bool same =
      row && row->otids == like.otids && row->agent == like.agent && row->conversation == like.conversation;
  return same ? row : std::nullopt;
}

} // namespace troupe::storage
