// /_internal_runs: runs by more filters, as the makers' own console asks for them
#include "net/rest/resources.hpp"
#include "net/rest/runs.hpp"

#include <algorithm>
#include <limits>

namespace troupe::net::rest {

namespace {

enum class comparison { eq, gte, lte };
BOOST_DESCRIBE_ENUM(comparison, eq, gte, lte)
enum class duration_comparison { gt, lt, eq };
BOOST_DESCRIBE_ENUM(duration_comparison, gt, lt, eq)
enum class run_sort { created_at, duration };
BOOST_DESCRIBE_ENUM(run_sort, created_at, duration)

struct search_parameters : run_list_parameters {
  std::optional<std::string> run_id, template_family, project_id;
  std::optional<std::int64_t> step_count, duration_percentile, duration_value;
  comparison step_count_operator = comparison::eq;
  std::vector<std::string> tools_used;
  run_sort order_by = run_sort::created_at;
  std::optional<duration_comparison> duration_operator;
  std::optional<timestamp> start_date, end_date;
};
BOOST_DESCRIBE_STRUCT(search_parameters, (run_list_parameters),
                      (run_id, template_family, project_id, step_count, duration_percentile, duration_value,
                       step_count_operator, tools_used, order_by, duration_operator, start_date, end_date))

bool matches_steps(const run& row, const search_parameters& p) {
  if (!p.step_count) return true;
  auto n = static_cast<std::int64_t>(row.steps.size());
  return p.step_count_operator == comparison::eq    ? n == *p.step_count
         : p.step_count_operator == comparison::gte ? n >= *p.step_count
                                                    : n <= *p.step_count;
}

bool matches_duration(const run& row, const search_parameters& p) {
  bool by_value = p.duration_value && p.duration_operator;
  bool by_duration = by_value || p.duration_percentile || p.order_by == run_sort::duration;
  if (by_duration && !row.total_duration_ns) return false;
  if (!by_value) return true;
  auto ns = *row.total_duration_ns;
  return *p.duration_operator == duration_comparison::gt   ? ns > *p.duration_value
         : *p.duration_operator == duration_comparison::lt ? ns < *p.duration_value
                                                           : ns == *p.duration_value;
}

bool is_wanted(const run& row, const search_parameters& p) {
  auto used = [&](auto& id) {
    return std::find(p.tools_used.begin(), p.tools_used.end(), id.str()) != p.tools_used.end();
  };
  if (p.run_id && row.id.str() != *p.run_id) return false;
  if (p.template_family && row.base_template_id != p.template_family) return false;
  if (p.project_id && row.project_id != p.project_id) return false;
  if (p.start_date && row.created_at < *p.start_date) return false;
  if (p.end_date && row.created_at > *p.end_date) return false;
  if (!p.tools_used.empty() && std::none_of(row.tools_used.begin(), row.tools_used.end(), used)) return false;
  return matches_steps(row, p) && matches_duration(row, p);
}

// The slowest ones, from the one on that this share of all is quicker than.
void keep_slow(std::vector<run>& rows, std::int64_t percentile) {
  if (rows.empty()) return;
  std::vector<std::int64_t> all;
  all.reserve(rows.size());
  for (auto& row : rows) all.push_back(*row.total_duration_ns);
  std::sort(all.begin(), all.end());
  auto at = static_cast<double>(std::clamp<std::int64_t>(percentile, 0, 100)) / 100 *
            static_cast<double>(all.size() - 1);
  auto below = static_cast<std::size_t>(at);
  auto above = std::min(below + 1, all.size() - 1);
  auto least = static_cast<double>(all[below]) +
               (at - static_cast<double>(below)) * static_cast<double>(all[above] - all[below]);
  std::erase_if(rows, [&](auto& row) { return static_cast<double>(*row.total_duration_ns) < least; });
}

std::vector<run> search_runs(const storage::reader& r, const org_id& org, storage::run_query q,
                             const search_parameters& p) {
  q.wanted = [&](auto& row) { return is_wanted(row, p); };
  if (p.order_by == run_sort::created_at && !p.duration_percentile) return storage::list_runs(r, org, q);
  auto most = std::exchange(q.limit, std::numeric_limits<std::size_t>::max());
  auto rows = storage::list_runs(r, org, q);
  if (p.duration_percentile) keep_slow(rows, *p.duration_percentile);
  if (p.order_by == run_sort::duration)
    std::stable_sort(rows.begin(), rows.end(), [&](auto& a, auto& b) {
      return q.order == sort_order::asc ? a.total_duration_ns < b.total_duration_ns
                                        : a.total_duration_ns > b.total_duration_ns;
    });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

awaitable<outcome> search(call& c) {
  auto p = query_of<search_parameters>(c);
  if (!p) co_return p.error();
  auto q = run_query_for(*p);
  if (!q) co_return q.error();
  auto list = [q = *q, p = *p, org = c.by.org](const storage::reader& r) -> result<std::string> {
    return run_list_text(search_runs(r, org, q, p));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

} // namespace

void add_run_search(router& r) { r.add("GET", "/_internal_runs/", search); }

} // namespace troupe::net::rest

namespace troupe::json {
template <> inline constexpr bool is_literal<net::rest::duration_comparison> = true;
template <> inline constexpr bool is_literal<net::rest::run_sort> = true;
} // namespace troupe::json
