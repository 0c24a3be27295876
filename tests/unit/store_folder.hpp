// A store in a folder of its own, which goes with the test.
#pragma once

#include "storage/faults.hpp"
#include "storage/lmdb_store.hpp"
#include "tests/unit/support.hpp"

#include <atomic>
#include <unistd.h>

namespace troupe::test {

class store_folder {
public:
  store_folder() { open(); }
  ~store_folder() {
    faults::set_handler({});
    db.reset();
    std::filesystem::remove_all(path);
  }
  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;

  storage::lmdb_options options(std::size_t map_size = std::size_t{1} << 26) const {
    storage::lmdb_options o;
    o.directory = path;
    o.map_size = map_size;
    o.durable = false;
    return o;
  }
  // Closes and opens again.
  void open(std::size_t map_size = std::size_t{1} << 26) {
    db.reset();
    auto opened = storage::open_lmdb(options(map_size));
    if (!opened) throw std::runtime_error(opened.error().message);
    db = std::move(*opened);
  }

  // One batch; the function may give a result or nothing.
  template <class F> result<void> write(F f) {
    storage::batch b{"test", [&](storage::transaction& t) -> result<void> {
                       if constexpr (std::is_void_v<decltype(f(t))>) {
                         f(t);
                         return {};
                       } else {
                         return f(t);
                       }
                     }};
    return db->commit({b}).front();
  }
  std::unique_ptr<storage::reader> snapshot() const { return db->snapshot(); }

  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("troupe-unit-" + std::to_string(::getpid()) + "-" + std::to_string(++count_));
  std::unique_ptr<storage::database> db;

private:
  static inline std::atomic<int> count_ = 0;
};

} // namespace troupe::test
