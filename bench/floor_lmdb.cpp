// A floor for everything that is durable: LMDB alone, with the records of a turn.
//   floor_lmdb size FOLDER                      how many records and bytes a store holds
//   floor_lmdb commit FOLDER RECORDS BYTES      commits of that much: one turn each, then 64 turns each
#include <lmdb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

void check(int rc) {
  if (!rc) return;
  std::fprintf(stderr, "floor_lmdb: %s\n", mdb_strerror(rc));
  std::exit(1);
}

// Opened as the store opens it.
MDB_env* open(const char* folder, unsigned flags) {
  MDB_env* env = nullptr;
  check(mdb_env_create(&env));
  check(mdb_env_set_mapsize(env, std::size_t{1} << 36));
  check(mdb_env_open(env, folder, MDB_NOTLS | flags, 0600));
  return env;
}

int print_size(const char* folder) {
  auto* env = open(folder, MDB_RDONLY);
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  MDB_cursor* cursor = nullptr;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn));
  check(mdb_dbi_open(txn, nullptr, 0, &dbi));
  check(mdb_cursor_open(txn, dbi, &cursor));
  MDB_val k, v;
  std::size_t records = 0, bytes = 0;
  while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0) {
    ++records;
    bytes += k.mv_size + v.mv_size;
  }
  std::printf("{\"records\":%zu,\"bytes\":%zu}\n", records, bytes);
  return 0;
}

class writer {
public:
  writer(const char* folder, std::size_t records, std::size_t bytes)
      : env_(open(folder, 0)),
        records_(records),
        value_(std::max<std::size_t>(1, bytes / records - key_size), 'x') {}

  // One transaction with the records of so many turns, at random keys, as ids are. Gives its time in µs.
  double commit(std::size_t turns) {
    auto began = clock_type::now();
    MDB_txn* txn = nullptr;
    MDB_dbi dbi = 0;
    check(mdb_txn_begin(env_, nullptr, 0, &txn));
    check(mdb_dbi_open(txn, nullptr, 0, &dbi));
    for (std::size_t i = 0; i < turns * records_; ++i) {
      std::uint64_t key[key_size / 8] = {random_(), random_(), random_()};
      MDB_val k{key_size, key}, v{value_.size(), value_.data()};
      check(mdb_put(txn, dbi, &k, &v, 0));
    }
    check(mdb_txn_commit(txn));
    return std::chrono::duration<double, std::micro>(clock_type::now() - began).count();
  }

private:
  static constexpr std::size_t key_size = 24;
  MDB_env* env_;
  std::size_t records_;
  std::string value_;
  std::mt19937_64 random_{1};
};

int print_commits(const char* folder, std::size_t records, std::size_t bytes) {
  writer w(folder, records, bytes);
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) times.push_back(w.commit(1));
  std::sort(times.begin(), times.end());
  double grouped = 0;
  constexpr int groups = 50, turns = 64;
  for (int i = 0; i < groups; ++i) grouped += w.commit(turns);
  std::printf("{\"p50\":%.1f,\"p99\":%.1f,\"turnsPerSecond\":%.0f}\n", times[500], times[990],
              groups * turns / (grouped / 1e6));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !std::strcmp(argv[1], "size")) return print_size(argv[2]);
  if (argc == 5 && !std::strcmp(argv[1], "commit"))
    return print_commits(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
  std::fprintf(stderr, "floor_lmdb size FOLDER | floor_lmdb commit FOLDER RECORDS BYTES\n");
  return 2;
}
