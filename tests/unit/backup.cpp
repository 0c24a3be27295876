// A copy of a store: whole, private, and never over another one.
#define CAF_SUITE backup
#include "storage/lmdb_store.hpp"

#include <caf/test/unit_test.hpp>

#include <unistd.h>

using namespace troupe;
using namespace troupe::storage;
namespace fs = std::filesystem;

namespace {

struct fixture {
  fs::path root = fs::temp_directory_path() / ("troupe-backup-" + std::to_string(::getpid()));
  std::unique_ptr<database> db = open(root / "store");

  fixture() {
    auto put = [](transaction& t) -> result<void> {
      t.put("key", "value");
      return {};
    };
    CAF_REQUIRE(db->commit({batch{"test", put}}).front());
  }
  ~fixture() {
    db.reset();
    fs::remove_all(root);
  }

  static std::unique_ptr<database> open(const fs::path& directory) {
    lmdb_options options;
    options.directory = directory;
    options.map_size = std::size_t{1} << 24;
    auto opened = open_lmdb(options);
    CAF_REQUIRE(opened);
    return std::move(*opened);
  }

  static std::string value_in(const fs::path& directory) {
    auto copy = open(directory);
    return std::string(copy->snapshot()->get("key").value_or(""));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(backup_tests, fixture)

CAF_TEST(a copy holds what the store held and nobody else may read it) {
  auto to = root / "copies" / "one";
  CAF_REQUIRE(db->backup(to.string()));
  auto rights = fs::status(to / "data.mdb").permissions();
  CAF_CHECK((rights & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CAF_CHECK_EQUAL(value_in(to), "value");
}

CAF_TEST(a folder that holds a store already is left alone) {
  auto to = root / "copy";
  CAF_REQUIRE(db->backup(to.string()));
  auto again = db->backup(to.string());
  CAF_REQUIRE(!again);
  CAF_CHECK_NOT_EQUAL(again.error().message.find((to / "data.mdb").string()), std::string::npos);
  CAF_CHECK_NOT_EQUAL(again.error().message.find("File exists"), std::string::npos);
  CAF_CHECK_EQUAL(value_in(to), "value");
}

CAF_TEST_FIXTURE_SCOPE_END()
