#include "storage/lmdb_store.hpp"

#include "storage/faults.hpp"

#include <lmdb.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <unistd.h>

namespace troupe::storage {

namespace {

constexpr std::string_view sequence_key{"\0sequence", 9};

// Thrown inside this file only: the engine refused, and the whole commit is void.
struct engine_failure : std::runtime_error {
  explicit engine_failure(int c) : std::runtime_error(mdb_strerror(c)), code(c) {}
  int code;
};

MDB_val to_val(std::string_view s) { return {s.size(), const_cast<char*>(s.data())}; }
std::string_view to_view(const MDB_val& v) { return {static_cast<const char*>(v.mv_data), v.mv_size}; }

bool is_damage(int code) {
  return code == MDB_INVALID || code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_PANIC;
}

error to_error(int code) {
  if (is_damage(code))
    return fail(errc::unavailable, std::string("The store is damaged (") + mdb_strerror(code) +
                                       "): restore a backup, or move the folder away to begin anew");
  if (code == MDB_MAP_FULL || code == ENOSPC || code == EDQUOT || code == EFBIG)
    return fail(errc::storage_full, "The disk is full: nothing was stored");
  return fail(errc::unavailable, std::string("The store cannot be written: ") + mdb_strerror(code));
}

// LMDB calls a write that was cut short an I/O error, and that is how a disk fills up.
bool disk_is_full(MDB_env* env) {
  const char* directory = nullptr;
  mdb_env_get_path(env, &directory);
  std::error_code ec;
  auto space = std::filesystem::space(directory, ec);
  return !ec && space.available < (1u << 20);
}

void check_fault(std::string_view point) {
  switch (faults::at(point)) {
  case faults::kind::none: return;
  case faults::kind::disk_full: throw engine_failure(ENOSPC);
  case faults::kind::io_error: throw engine_failure(EIO);
  case faults::kind::crash: _exit(137);
  }
}

struct cursor_closer {
  void operator()(MDB_cursor* c) const { mdb_cursor_close(c); }
};
using cursor_ptr = std::unique_ptr<MDB_cursor, cursor_closer>;

cursor_ptr open_cursor(MDB_txn* txn, MDB_dbi dbi) {
  MDB_cursor* c = nullptr;
  if (int rc = mdb_cursor_open(txn, dbi, &c)) throw engine_failure(rc);
  return cursor_ptr(c);
}

std::optional<std::string_view> get_in(MDB_txn* txn, MDB_dbi dbi, std::string_view key) {
  auto k = to_val(key);
  MDB_val v;
  int rc = mdb_get(txn, dbi, &k, &v);
  if (rc == MDB_NOTFOUND) return std::nullopt;
  if (rc) throw engine_failure(rc);
  return to_view(v);
}

void scan_in(MDB_txn* txn, MDB_dbi dbi, std::string_view from, std::string_view to, reader::direction d,
             const reader::visitor& visit) {
  auto c = open_cursor(txn, dbi);
  MDB_val k, v;
  int rc;
  if (d == reader::direction::forward) {
    k = to_val(from);
    for (rc = mdb_cursor_get(c.get(), &k, &v, MDB_SET_RANGE); rc == 0;
         rc = mdb_cursor_get(c.get(), &k, &v, MDB_NEXT))
      if ((!to.empty() && to_view(k) >= to) || !visit(to_view(k), to_view(v))) return;
  } else {
    // To the first key at or behind the end, then one back; an empty end is the end of all.
    k = to_val(to);
    rc = to.empty() ? MDB_NOTFOUND : mdb_cursor_get(c.get(), &k, &v, MDB_SET_RANGE);
    rc = rc == MDB_NOTFOUND ? mdb_cursor_get(c.get(), &k, &v, MDB_LAST)
         : rc               ? rc
                            : mdb_cursor_get(c.get(), &k, &v, MDB_PREV);
    for (; rc == 0; rc = mdb_cursor_get(c.get(), &k, &v, MDB_PREV))
      if (to_view(k) < from || !visit(to_view(k), to_view(v))) return;
  }
  if (rc != MDB_NOTFOUND) throw engine_failure(rc);
}

class lmdb_snapshot final : public reader {
public:
  lmdb_snapshot(MDB_env* env, MDB_dbi dbi) : dbi_(dbi) {
    if (int rc = mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn_)) throw engine_failure(rc);
  }
  ~lmdb_snapshot() override { mdb_txn_abort(txn_); }
  std::optional<std::string_view> get(std::string_view key) const override { return get_in(txn_, dbi_, key); }
  void scan(std::string_view from, std::string_view to, direction d, const visitor& visit) const override {
    scan_in(txn_, dbi_, from, to, d, visit);
  }

private:
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_;
};

class lmdb_transaction final : public transaction {
public:
  lmdb_transaction(MDB_env* env, MDB_dbi dbi) : dbi_(dbi) {
    if (int rc = mdb_txn_begin(env, nullptr, 0, &txn_)) throw engine_failure(rc);
    if (auto stored = get_in(txn_, dbi_, sequence_key)) {
      for (char c : *stored) sequence_ = sequence_ << 8 | static_cast<unsigned char>(c);
    }
  }
  ~lmdb_transaction() override {
    if (txn_) mdb_txn_abort(txn_);
  }

  std::optional<std::string_view> get(std::string_view key) const override { return get_in(txn_, dbi_, key); }
  void scan(std::string_view from, std::string_view to, direction d, const visitor& visit) const override {
    scan_in(txn_, dbi_, from, to, d, visit);
  }
  void put(std::string_view key, std::string_view value) override {
    check_fault("store.put");
    ++writes_;
    auto k = to_val(key), v = to_val(value);
    if (int rc = mdb_put(txn_, dbi_, &k, &v, 0)) throw engine_failure(rc);
  }
  void erase(std::string_view key) override {
    check_fault("store.erase");
    ++writes_;
    auto k = to_val(key);
    int rc = mdb_del(txn_, dbi_, &k, nullptr);
    if (rc && rc != MDB_NOTFOUND) throw engine_failure(rc);
  }
  std::uint64_t next_sequence() override {
    sequence_changed_ = true;
    ++writes_;
    return ++sequence_;
  }

  std::size_t writes() const noexcept { return writes_; }

  void commit() {
    if (sequence_changed_) {
      std::string bytes(8, '\0');
      for (int i = 0; i < 8; ++i)
        bytes[static_cast<std::size_t>(7 - i)] = static_cast<char>(sequence_ >> (8 * i));
      put(sequence_key, bytes);
    }
    check_fault("store.commit");
    auto* txn = std::exchange(txn_, nullptr);
    if (int rc = mdb_txn_commit(txn)) throw engine_failure(rc);
    check_fault("store.committed");
  }

private:
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_;
  std::uint64_t sequence_ = 0;
  bool sequence_changed_ = false;
  std::size_t writes_ = 0;
};

class lmdb_database final : public database {
public:
  lmdb_database(MDB_env* env, MDB_dbi dbi, int lock) : env_(env), dbi_(dbi), lock_(lock) {}
  ~lmdb_database() override {
    mdb_env_close(env_);
    if (lock_ >= 0) ::close(lock_);
  }

  std::unique_ptr<reader> snapshot() const override { return std::make_unique<lmdb_snapshot>(env_, dbi_); }

  std::vector<result<void>> commit(const std::vector<batch>& batches) override {
    std::vector<result<void>> results(batches.size(), result<void>{});
    std::vector<bool> out(batches.size(), false); // failed after it had written: not tried again
    try {
      while (!try_commit(batches, results, out)) {}
    } catch (const engine_failure& e) {
      auto why = to_error(e.code == EIO && disk_is_full(env_) ? ENOSPC : e.code);
      for (auto& r : results)
        if (r) r = why;
    }
    return results;
  }

  result<void> backup(const std::string& directory) const override {
    std::error_code ec;
    std::filesystem::create_directories(directory, ec);
    if (ec) return fail(errc::unavailable, "cannot create " + directory + ": " + ec.message());
    auto file = std::filesystem::path(directory) / "data.mdb";
    // As private as the store itself; never over another store.
    int fd = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return fail(errc::unavailable, file.string() + " cannot be created: " + std::strerror(errno));
    int rc = mdb_env_copyfd2(env_, fd, MDB_CP_COMPACT);
    if (!rc && ::fsync(fd)) rc = errno;
    ::close(fd);
    if (!rc) return {};
    std::filesystem::remove(file, ec); // half a copy is none
    return fail(errc::unavailable, file.string() + " cannot be written: " + mdb_strerror(rc));
  }

  MDB_env* env() const noexcept { return env_; }

private:
  // False where a batch failed after it had written something: everything is begun again without it.
  bool try_commit(const std::vector<batch>& batches, std::vector<result<void>>& results,
                  std::vector<bool>& out) {
    lmdb_transaction txn(env_, dbi_);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (out[i]) continue;
      auto before = txn.writes();
      results[i] = run(batches[i], txn);
      if (results[i] || txn.writes() == before) continue;
      out[i] = true;
      return false;
    }
    if (txn.writes() > 0) txn.commit();
    return true;
  }

  static result<void> run(const batch& b, transaction& txn) {
    try {
      return b.apply(txn);
    } catch (const engine_failure&) { throw; } catch (const std::exception& e) {
      return fail(errc::internal, "batch " + std::string(b.name) + ": " + e.what());
    }
  }

  MDB_env* env_;
  MDB_dbi dbi_;
  int lock_;
};

error open_error(const std::filesystem::path& file, int rc) {
  auto where = file.string();
  if (is_damage(rc))
    return fail(errc::unavailable,
                where + " is damaged: restore a backup, or move the folder away to begin anew");
  if (rc == MDB_VERSION_MISMATCH)
    return fail(errc::unavailable, where + " was written by another version of LMDB");
  if (rc == EACCES || rc == EPERM) return fail(errc::unavailable, where + " cannot be opened: no permission");
  return fail(errc::unavailable, where + " cannot be opened: " + mdb_strerror(rc));
}

// One server a folder: the lock goes with the process, however it ends.
result<int> take_lock(const std::filesystem::path& directory) {
  auto file = directory / "troupe.lock";
  int fd = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return fail(errc::unavailable, file.string() + " cannot be opened: " + std::strerror(errno));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return fail(errc::unavailable,
              "the data folder " + directory.string() +
                  " is in use by another troupe: stop it, or choose another folder with --data");
}

} // namespace

result<std::unique_ptr<database>> open_lmdb(const lmdb_options& options) {
  std::error_code ec;
  auto file = options.directory / "data.mdb";
  if (options.create && !options.read_only) std::filesystem::create_directories(options.directory, ec);
  if (ec)
    return fail(errc::unavailable,
                "the data folder " + options.directory.string() + " cannot be created: " + ec.message());
  auto size = std::filesystem::file_size(file, ec); // nothing where there is no file
  if ((!options.create || options.read_only) && (ec || size == 0))
    return fail(errc::not_found, "there is no store in " + options.directory.string());
  int lock = -1;
  if (!options.read_only) {
    auto taken = take_lock(options.directory);
    if (!taken) return taken.error();
    lock = *taken;
  }
  MDB_env* env = nullptr;
  auto give_up = [&](int rc) {
    if (env) mdb_env_close(env);
    if (lock >= 0) ::close(lock);
    return open_error(file, rc);
  };
  if (int rc = mdb_env_create(&env)) return give_up(rc);
  // LMDB asserts what damaged pages break; the process need not end of that.
  mdb_env_set_assert(env, [](MDB_env*, const char*) { throw engine_failure(MDB_CORRUPTED); });
  mdb_env_set_mapsize(env, options.map_size);
  mdb_env_set_maxreaders(env, options.max_readers);
  unsigned flags = MDB_NOTLS | (options.durable ? 0u : static_cast<unsigned>(MDB_NOSYNC)) |
                   (options.read_only ? static_cast<unsigned>(MDB_RDONLY) : 0u);
  if (int rc = mdb_env_open(env, options.directory.c_str(), flags, 0600)) return give_up(rc);
  MDB_txn* txn = nullptr;
  if (int rc = mdb_txn_begin(env, nullptr, options.read_only ? MDB_RDONLY : 0, &txn)) return give_up(rc);
  MDB_dbi dbi = 0;
  if (int rc = mdb_dbi_open(txn, nullptr, 0, &dbi)) {
    mdb_txn_abort(txn);
    return give_up(rc);
  }
  if (int rc = mdb_txn_commit(txn)) return give_up(rc);
  return std::unique_ptr<database>(std::make_unique<lmdb_database>(env, dbi, lock));
}

int clear_dead_readers(const database& db) {
  int dead = 0;
  if (auto* lmdb = dynamic_cast<const lmdb_database*>(&db)) mdb_reader_check(lmdb->env(), &dead);
  return dead;
}

} // namespace troupe::storage
