// Requests are known again by their otids, for three hours, and the table does not grow beyond them.
#define CAF_SUITE requests
#include "storage/requests.hpp"

#include "storage/runs.hpp"
#include "storage/tables.hpp"
#include "tests/unit/store_folder.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : store_folder {
  run make(int n, std::vector<std::string> otids, int minutes,
           std::optional<conversation_id> in = std::nullopt) {
    run row;
    row.id = nth<run_id>(n);
    row.agent = nth<agent_id>(1);
    row.conversation = in;
    row.organization_id = nth<org_id>(1);
    row.otids = std::move(otids);
    row.created_at = timestamp{minute(minutes)};
    return row;
  }
  run create(int n, std::vector<std::string> otids, int minutes,
             std::optional<conversation_id> in = std::nullopt) {
    auto row = make(n, std::move(otids), minutes, in);
    CAF_REQUIRE(write([&](storage::transaction& t) { storage::create_run(t, row); }));
    return row;
  }
  static std::int64_t minute(int n) { return (1'000'000 + n) * std::int64_t{60'000'000}; }

  std::string by_otid(std::string_view otid, int minutes, org_id org = nth<org_id>(1)) {
    auto row = storage::run_of_otid(*snapshot(), org, otid, timestamp{minute(minutes)});
    return row ? row->id.str() : "-";
  }
  bool repeats(const run& like) { return storage::run_of_request(*snapshot(), like).has_value(); }
  std::size_t rows() const {
    return snapshot()->count_prefix(storage::key(storage::table::requests)) +
           snapshot()->count_prefix(storage::key(storage::table::requests_by_age));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(request_tests, fixture)

CAF_TEST(a request is the same where all its otids are and in the same context) {
  create(1, {"a", "b"}, 0);
  CAF_CHECK(repeats(make(2, {"a", "b"}, 179)));
  CAF_CHECK(!repeats(make(2, {"a", "b"}, 181)));
  CAF_CHECK(!repeats(make(2, {"a"}, 1)));
  CAF_CHECK(!repeats(make(2, {"b", "a"}, 1)));
  CAF_CHECK(!repeats(make(2, {}, 1)));
  CAF_CHECK(!repeats(make(2, {"a", "b"}, 1, nth<conversation_id>(1))));
}

CAF_TEST(an otid leads to its newest run) {
  create(1, {"a", "b"}, 0);
  create(2, {"a"}, 10);
  CAF_CHECK_EQUAL(by_otid("a", 11), nth<run_id>(2).str());
  CAF_CHECK_EQUAL(by_otid("b", 11), nth<run_id>(1).str());
  CAF_CHECK_EQUAL(by_otid("b", 181), "-");
  CAF_CHECK_EQUAL(by_otid("a", 11, nth<org_id>(2)), "-");
}

CAF_TEST(old ones and those of deleted runs are forgotten) {
  auto first = create(1, {"a"}, 0);
  create(2, {"a"}, 1);
  CAF_CHECK_EQUAL(rows(), 3u);
  CAF_REQUIRE(write([&](storage::transaction& t) { storage::erase_run(t, first); }));
  CAF_CHECK_EQUAL(by_otid("a", 2), nth<run_id>(2).str());
  CAF_CHECK_EQUAL(rows(), 2u);
  create(3, {"late"}, 500);
  CAF_CHECK_EQUAL(rows(), 2u);
  CAF_CHECK_EQUAL(by_otid("late", 501), nth<run_id>(3).str());
}

CAF_TEST_FIXTURE_SCOPE_END()
