// The engine: ordered keys, snapshots, batches that happen wholly or not at all, also where the disk fails.
#define CAF_SUITE store
#include "storage/setup.hpp"
#include "storage/tables.hpp"
#include "tests/unit/store_folder.hpp"

#include <caf/test/unit_test.hpp>

#include <fstream>

using namespace troupe;
using namespace troupe::storage;
using namespace troupe::test;

namespace {

struct fixture : store_folder {
  using direction = reader::direction;

  // key=value of a range, in the order of the scan.
  static std::string listed(const reader& r, std::string_view from, std::string_view to, direction d,
                            std::size_t limit = 100) {
    std::string out;
    std::size_t n = 0;
    r.scan(from, to, d, [&](auto k, auto v) {
      out.append(out.empty() ? "" : " ").append(k).append("=").append(v);
      return ++n < limit;
    });
    return out;
  }
  std::string all() const { return listed(*snapshot(), "a", "z", direction::forward); }

  static batch put(std::string key, std::string value) {
    return {"put", [=](transaction& t) -> result<void> {
              t.put(key, value);
              return {};
            }};
  }
  // A batch that finds a precondition broken, after it wrote something or before.
  static batch refused(bool after_writing) {
    return {"refused", [=](transaction& t) -> result<void> {
              if (after_writing) t.put("c", "never");
              return fail(errc::conflict, "moved on");
            }};
  }
  std::string commit(const std::vector<batch>& batches) {
    std::string out;
    for (auto& r : db->commit(batches))
      out += (out.empty() ? "" : ", ") + (r ? std::string("ok") : r.error().message);
    return out;
  }
  // The point fails when it is passed for the nth time from now on.
  static void fail_at(std::string point, int nth, faults::kind what = faults::kind::disk_full) {
    faults::set_handler([point, what, n = std::make_shared<int>(nth)](std::string_view passed) {
      return passed == point && --*n == 0 ? what : faults::kind::none;
    });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(store_tests, fixture)

CAF_TEST(ranges in both directions) {
  for (auto* k : {"b", "a", "d", "c", "cc"}) CAF_REQUIRE(write([&](transaction& t) { t.put(k, "1"); }));
  auto r = snapshot();
  struct {
    const char *from, *to;
    direction d;
    const char* listed;
  } rows[] = {
      {"a", "d", direction::forward, "a=1 b=1 c=1 cc=1"},
      {"a", "d", direction::backward, "cc=1 c=1 b=1 a=1"},
      {"b", "cc", direction::forward, "b=1 c=1"},
      {"b", "cc", direction::backward, "c=1 b=1"},
      {"bb", "cb", direction::backward, "c=1"},
      {"c", "", direction::forward, "c=1 cc=1 d=1"},
      {"c", "", direction::backward, "d=1 cc=1 c=1"},
      {"x", "", direction::backward, ""},
      {"x", "y", direction::forward, ""},
      {"0", "a", direction::backward, ""},
  };
  for (auto& row : rows) CAF_CHECK_EQUAL(listed(*r, row.from, row.to, row.d), row.listed);
  CAF_CHECK_EQUAL(listed(*r, "a", "z", direction::backward, 2), "d=1 cc=1");
  CAF_CHECK_EQUAL(r->count_prefix("c"), 2u);
  CAF_CHECK_EQUAL(after_prefix("ab"), "ac");
  CAF_CHECK_EQUAL(after_prefix("a\xff\xff"), "b");
  CAF_CHECK_EQUAL(after_prefix("\xff"), "");
}

CAF_TEST(writes within a batch are seen by it) {
  auto done = write([&](transaction& t) {
    for (auto* k : {"p1", "p2", "q"}) t.put(k, "1");
    CAF_CHECK(t.get("p1").has_value());
    t.erase_prefix("p");
    CAF_CHECK(!t.get("p2"));
    t.erase("nothing there");
  });
  CAF_CHECK(done);
  CAF_CHECK_EQUAL(all(), "q=1");
}

CAF_TEST(a snapshot stays as it was) {
  CAF_REQUIRE(write([&](transaction& t) { t.put("a", "old"); }));
  auto before = snapshot();
  CAF_REQUIRE(write([&](transaction& t) { t.put("a", "new"); }));
  CAF_CHECK_EQUAL(before->get("a").value_or(""), "old");
  CAF_CHECK_EQUAL(snapshot()->get("a").value_or(""), "new");
}

CAF_TEST(a refused batch leaves no trace and its neighbours stay) {
  for (bool after_writing : {false, true}) {
    CAF_CHECK_EQUAL(commit({put("a", "1"), refused(after_writing), put("b", "2")}), "ok, moved on, ok");
    CAF_CHECK_EQUAL(all(), "a=1 b=2");
    CAF_CHECK_EQUAL(commit({refused(after_writing)}), "moved on");
  }
  CAF_CHECK_EQUAL(commit({}), "");
  CAF_CHECK_EQUAL(commit({{"odd", [](transaction&) -> result<void> { throw std::runtime_error("oops"); }},
                          put("d", "1")}),
                  "batch odd: oops, ok");
}

CAF_TEST(a later batch sees what an earlier one of the commit wrote) {
  batch second{"second", [](transaction& t) -> result<void> {
                 if (!t.get("a")) return fail(errc::conflict, "not there");
                 t.put("b", *t.get("a"));
                 return {};
               }};
  CAF_CHECK_EQUAL(commit({put("a", "1"), second}), "ok, ok");
  CAF_CHECK_EQUAL(all(), "a=1 b=1");
}

CAF_TEST(the sequence is dense and outlives the process) {
  std::vector<std::uint64_t> seen;
  auto take = [&](bool refuse) {
    return batch{"take", [&seen, refuse](transaction& t) -> result<void> {
                   auto first = t.next_sequence(), second = t.next_sequence();
                   if (refuse) return fail(errc::conflict, "no");
                   seen.insert(seen.end(), {first, second});
                   return {};
                 }};
  };
  CAF_CHECK_EQUAL(commit({take(true), take(false)}), "no, ok");
  CAF_CHECK_EQUAL(commit({take(true)}), "no");
  open();
  CAF_CHECK_EQUAL(commit({take(false)}), "ok");
  CAF_CHECK((seen == std::vector<std::uint64_t>{1, 2, 3, 4}));
}

#ifdef TROUPE_FAULTS
CAF_TEST(whichever write fails nothing of the commit is stored) {
  struct {
    const char* point;
    int times; // that it is passed by the commit below
  } points[] = {{"store.put", 3}, {"store.erase", 1}, {"store.commit", 1}};
  batch two{"two", [](transaction& t) -> result<void> {
              t.put("b", "2");
              t.put("c", "3");
              t.erase("kept");
              return {};
            }};
  CAF_REQUIRE(write([](transaction& t) { t.put("kept", "0"); }));
  for (auto& p : points)
    for (auto what : {faults::kind::disk_full, faults::kind::io_error})
      for (int n = 1; n <= p.times; ++n) {
        fail_at(p.point, n, what);
        auto results = db->commit({put("a", "1"), two, refused(false)});
        faults::set_handler({});
        CAF_MESSAGE(p.point << " " << n);
        CAF_CHECK(!results[0] && !results[1]);
        auto code = what == faults::kind::disk_full ? errc::storage_full : errc::unavailable;
        CAF_CHECK(results[0].error().code == code && results[1].error().code == code);
        CAF_CHECK_EQUAL(all(), "kept=0");
      }
  // Afterwards everything goes on.
  CAF_CHECK_EQUAL(commit({put("a", "1"), two}), "ok, ok");
  CAF_CHECK_EQUAL(all(), "a=1 b=2 c=3");
}

CAF_TEST(a failed commit takes no number of the sequence) {
  fail_at("store.commit", 1);
  auto take = [](transaction& t) { t.put("a", std::to_string(t.next_sequence())); };
  CAF_CHECK(!write(take));
  CAF_CHECK(write(take));
  CAF_CHECK_EQUAL(all(), "a=1");
}
#endif

CAF_TEST(a full disk) {
  db.reset();
  std::filesystem::remove_all(path);
  open(std::size_t{1} << 18);
  std::string page(3000, 'x');
  result<void> last;
  int stored = 0;
  for (; stored < 1000 && last; ++stored)
    last = write([&](transaction& t) { t.put("k" + std::to_string(1000 + stored), page); });
  CAF_REQUIRE(!last);
  CAF_CHECK(last.error().code == errc::storage_full);
  CAF_CHECK_EQUAL(last.error().message, "The disk is full: nothing was stored");
  // Reading goes on, and all that was acknowledged is there.
  CAF_CHECK_EQUAL(snapshot()->count_prefix("k"), static_cast<std::size_t>(stored - 1));
  open(std::size_t{1} << 20);
  CAF_CHECK(write([&](transaction& t) { t.put("k", page); }));
  CAF_CHECK_EQUAL(snapshot()->count_prefix("k"), static_cast<std::size_t>(stored));
}

CAF_TEST(one process a folder) {
  auto second = open_lmdb(options());
  CAF_REQUIRE(!second);
  CAF_CHECK(second.error().message.find("is in use by another troupe") != std::string::npos);
  // Looking beside a running server is allowed.
  CAF_REQUIRE(write([](transaction& t) { t.put("a", "1"); }));
  db.reset();
  auto read_only = options();
  read_only.read_only = true;
  auto look = open_lmdb(read_only);
  CAF_REQUIRE(look);
  CAF_CHECK_EQUAL(listed(*(*look)->snapshot(), "a", "z", direction::forward), "a=1");
}

CAF_TEST(folders without a store and damaged files) {
  auto missing = options();
  missing.directory = path / "nowhere";
  missing.create = false;
  CAF_CHECK(open_lmdb(missing).error().code == errc::not_found);
  db.reset();
  std::filesystem::resize_file(path / "data.mdb", 0);
  { std::ofstream(path / "data.mdb") << std::string(10'000, '?'); }
  auto damaged = open_lmdb(options());
  CAF_REQUIRE(!damaged);
  CAF_CHECK(damaged.error().message.find("is damaged: restore a backup") != std::string::npos);
}

CAF_TEST(the format of a store) {
  fixed_environment env;
  auto format = key(table::meta).text("format");
  CAF_CHECK(prepare_format(*db, env));
  CAF_CHECK_EQUAL(snapshot()->get(format).value_or(""), std::to_string(format_version));
  CAF_CHECK_EQUAL(snapshot()->get(key(table::meta).text("created")).value_or(""), "2026-11-21T06:24:29Z");
  open();
  CAF_CHECK(prepare_format(*db, env));
  struct {
    const char* stored;
    const char* error;
  } rows[] = {{"99", "use the newer troupe that wrote it"},
              {"0", "which this troupe cannot migrate"},
              {"rubbish", "which this troupe cannot migrate"}};
  for (auto& r : rows) {
    CAF_REQUIRE(write([&](transaction& t) { t.put(format, r.stored); }));
    auto done = prepare_format(*db, env);
    CAF_REQUIRE(!done);
    CAF_CHECK(done.error().code == errc::unavailable);
    CAF_CHECK(done.error().message.find("format " + std::string(r.stored)) != std::string::npos);
    CAF_CHECK(done.error().message.find(r.error) != std::string::npos);
    CAF_CHECK_EQUAL(snapshot()->get(format).value_or(""), r.stored); // untouched
  }
}

CAF_TEST(keys of texts) {
  auto k = [](std::string_view s) { return key(table::meta).text(s).str(); };
  CAF_CHECK(k("a") < k("b") && k("a") < k("ab") && k("ab") < k("b"));
  CAF_CHECK(!k("ab").starts_with(k("a"))); // no text is a prefix of another
  std::string base(200, 'x');
  CAF_CHECK(k(base + "1") != k(base + "2") && k(base) != k(base + "1"));
  CAF_CHECK(k(std::string(100'000, 'x')).size() < 256);
  CAF_CHECK(key(table::runs).add(timestamp{255}).str() < key(table::runs).add(timestamp{256}).str());
  CAF_CHECK_EQUAL(number_at(big_endian(0x0102030405060708ull), 0), 0x0102030405060708ull);
}

CAF_TEST_FIXTURE_SCOPE_END()
