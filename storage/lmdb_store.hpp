// The engine: one LMDB environment in the data folder, durable commits. Read transactions are taken with MDB_NOTLS,
// so a snapshot may be used on another thread than the one that took it.
#pragma once

#include "storage/kv.hpp"

#include <filesystem>

namespace troupe::storage {

struct lmdb_options {
  std::filesystem::path directory;
  std::size_t map_size = std::size_t{1} << 38; // 256 GiB of address space; the file grows as it is filled
  unsigned max_readers = 510;
  bool durable = true;    // false only for tests and rebuildable stores
  bool create = true;     // else a folder without a store is an error
  bool read_only = false; // check and backup beside a running server
};

// Opens the store, or says in one line why not and what to do: the folder is used by another process, the file is
// damaged, the disk cannot be written.
result<std::unique_ptr<database>> open_lmdb(const lmdb_options& options);

// Removes the slots of readers that died; call it now and then. Gives how many there were.
int clear_dead_readers(const database& db);

} // namespace troupe::storage
