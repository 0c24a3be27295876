// A batch that calls back does so once, after the last of its runs.
#define CAF_SUITE batches
#include "storage/jobs.hpp"
#include "storage/pending.hpp"
#include "tests/unit/agent_store.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture : agent_store {
  agent self = make(1);

  job create(std::size_t runs, std::optional<std::string> callback_url = "http://127.0.0.1/here") {
    job j;
    j.id = nth<job_id>(1);
    j.organization_id = org;
    j.created_at = env.time;
    j.type = job_type::batch;
    j.status = job_status::running;
    j.callback_url = std::move(callback_url);
    for (std::size_t i = 1; i <= runs; ++i) j.runs.push_back(nth<run_id>(i));
    CAF_REQUIRE(write([&](storage::transaction& t) {
      storage::create_job(t, j);
      for (auto& id : j.runs) {
        run row;
        row.id = id;
        row.agent = self.id;
        row.organization_id = org;
        row.created_at = env.time;
        row.batch = j.id;
        storage::create_run(t, row);
      }
    }));
    return j;
  }
  void end(std::uint64_t n, run_status how = run_status::completed) {
    CAF_REQUIRE(write([&](storage::transaction& t) {
      auto row = *storage::find_run(t, nth<run_id>(n));
      row.status = how;
      row.completed_at = naive_timestamp{env.time.us + static_cast<std::int64_t>(n)};
      storage::put_run(t, row);
    }));
  }
  void erase(std::uint64_t n) {
    CAF_REQUIRE(write(
        [&](storage::transaction& t) { storage::erase_run(t, *storage::find_run(t, nth<run_id>(n))); }));
  }
  void put(const job& j) {
    CAF_REQUIRE(write([&](storage::transaction& t) { storage::put_job(t, j); }));
  }
  // What is due, as j for jobs and r for runs.
  std::string due() const {
    std::string out;
    for (auto& c : storage::callbacks_due(*snapshot())) out += c.is_job ? 'j' : 'r';
    return out;
  }
  std::size_t waits_for() const { return snapshot()->count_prefix(storage::key(storage::table::batch_runs)); }
  job row() const { return *storage::find_job(*snapshot(), nth<job_id>(1)); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(batch_tests, fixture)

CAF_TEST(a callback is due when the last run has ended) {
  create(3);
  CAF_CHECK_EQUAL(waits_for(), 3u);
  end(2);
  end(1, run_status::failed);
  end(1, run_status::failed); // written once more
  CAF_CHECK_EQUAL(due(), "");
  end(3);
  CAF_CHECK_EQUAL(due(), "j");
  CAF_CHECK_EQUAL(waits_for(), 0u);
  CAF_CHECK(row().status == job_status::failed);
  CAF_REQUIRE(write([&](storage::transaction& t) {
    storage::record_callback(t, {nth<job_id>(1).value, true}, env.time, 204, std::nullopt);
  }));
  CAF_CHECK_EQUAL(due(), "");
  auto told = row();
  CAF_CHECK(told.callback_sent_at && told.callback_status_code == 204 && !told.callback_error);
  CAF_CHECK_EQUAL(told.completed_at->us, env.time.us + 3);
  end(3);
  CAF_CHECK_EQUAL(due(), "");
}

CAF_TEST(a run that was deleted is not waited for) {
  create(2);
  end(1);
  erase(2);
  CAF_CHECK_EQUAL(due(), "j");
}

CAF_TEST(nobody is called of a batch that was cancelled or deleted or that names nobody) {
  auto j = create(2);
  end(1);
  j.status = job_status::cancelled;
  put(j);
  end(2, run_status::cancelled);
  CAF_CHECK_EQUAL(due(), "");
  create(2, std::nullopt);
  end(1);
  end(2);
  CAF_CHECK_EQUAL(due(), "");
  j = create(1);
  end(1);
  CAF_CHECK_EQUAL(due(), "j");
  CAF_REQUIRE(write([&](storage::transaction& t) { storage::erase_job(t, j); }));
  CAF_CHECK_EQUAL(due(), "");
}

CAF_TEST(a batch that failed at its beginning is told of at once and only then) {
  auto j = create(2);
  j.status = job_status::failed;
  put(j);
  CAF_CHECK_EQUAL(due(), "j");
  CAF_REQUIRE(write([&](storage::transaction& t) {
    storage::record_callback(t, {j.id.value, true}, env.time, std::nullopt, "nobody there");
  }));
  end(1);
  end(2);
  CAF_CHECK_EQUAL(due(), "");
  CAF_CHECK_EQUAL(row().callback_error.value_or(""), "nobody there");
}

CAF_TEST(what is due of runs goes with them) {
  auto row = begin(self, 9);
  row.callback_url = "http://127.0.0.1/here";
  row.status = run_status::completed;
  CAF_REQUIRE(write([&](storage::transaction& t) { storage::put_run(t, row); }));
  CAF_CHECK_EQUAL(due(), "r");
  erase(9);
  CAF_CHECK_EQUAL(due(), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
