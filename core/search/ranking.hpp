// Which of many messages answer a query best: BM25 over postings, and the union of several rankings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::search {

// One word in one message.
struct posting {
  std::uint64_t place = 0;  // of the message in the global sequence
  std::uint64_t count = 0;  // how often the word is in it
  std::uint64_t length = 0; // its words altogether
};

// What the messages are altogether.
struct collection {
  std::uint64_t messages = 0;
  std::uint64_t words = 0;
};

// Postings of some texts, in memory.
struct word_table {
  std::map<std::string, std::vector<posting>, std::less<>> words;
  collection all;

  // The words of one text, with repetitions. One that has none is no part of the collection.
  void add(std::uint64_t place, const std::vector<std::string>& in_order);
};

class bm25 {
public:
  explicit bm25(collection all) : all_(all) {}
  // All messages that hold a word of the query. `weight` is less than one for words that are merely like it.
  void add(const std::vector<posting>& postings, double weight);
  // Best first; of equal ones the newest.
  std::vector<std::uint64_t> ranked() const;

private:
  collection all_;
  std::unordered_map<std::uint64_t, double> scores_;
};

struct fused {
  std::uint64_t place = 0;
  std::optional<std::size_t> first_rank, second_rank; // from 1
  double score = 0;
};
// Reciprocal rank fusion: each ranking gives weight / (60 + rank). Best first.
std::vector<fused> fuse(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second,
                        double first_weight, double second_weight);

} // namespace troupe::search
