// The small interface that everything above storage's engine is written against: ordered keys, snapshots, atomic
// batches. Nothing of LMDB shows here, because on several hosts the same layer runs on a shared database.
//
// Threads: any thread may take a snapshot and use it until it ends; only one thread commits.
#pragma once

#include "core/base/error.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::storage {

// A consistent view. What it returns stays valid until the view ends; in a transaction until the next write.
class reader {
public:
  virtual ~reader() = default;

  virtual std::optional<std::string_view> get(std::string_view key) const = 0;

  enum class direction { forward, backward };
  // Visits the keys of [from, to) in order, or in reverse order, until the visitor gives false.
  using visitor = std::function<bool(std::string_view key, std::string_view value)>;
  virtual void scan(std::string_view from, std::string_view to, direction d, const visitor& visit) const = 0;

  // All keys that begin with the prefix.
  void scan_prefix(std::string_view prefix, direction d, const visitor& visit) const;
  std::size_t count_prefix(std::string_view prefix) const;
};

class transaction : public reader {
public:
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual void erase(std::string_view key) = 0;
  // The next number of the global message sequence; dense, rising, part of the same batch.
  virtual std::uint64_t next_sequence() = 0;

  void erase_prefix(std::string_view prefix);
};

// What is done atomically: checks its preconditions, then writes. It may be run more than once, where a neighbour in
// the same commit had to be taken out, so it must not have effects of its own beside the transaction and its result.
struct batch {
  std::string_view name; // for logs, metrics and fault points
  std::function<result<void>(transaction&)> apply;
};

class database {
public:
  virtual ~database() = default;
  virtual std::unique_ptr<reader> snapshot() const = 0;
  // Commits the batches together, durably. Each has a result of its own: a batch whose precondition failed leaves no
  // trace, the others are stored. Where the commit itself fails, none is, and all results say so.
  virtual std::vector<result<void>> commit(const std::vector<batch>& batches) = 0;
  // A copy of the whole store as of now, in a new directory, while others read and write.
  virtual result<void> backup(const std::string& directory) const = 0;
};

// The smallest key that is greater than every key with this prefix; empty: there is none.
std::string after_prefix(std::string_view prefix);

} // namespace troupe::storage
