#include "core/search/ranking.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::search {

namespace {
constexpr double saturation = 1.2, length_share = 0.75; // k1 and b, as everybody has them
constexpr double rank_offset = 60;

template <class T> void sort_by_score(std::vector<T>& all) {
  std::sort(all.begin(), all.end(),
            [](auto& a, auto& b) { return a.score != b.score ? a.score > b.score : a.place > b.place; });
}
} // namespace

void word_table::add(std::uint64_t place, const std::vector<std::string>& in_order) {
  if (in_order.empty()) return;
  ++all.messages;
  all.words += in_order.size();
  for (auto& w : in_order) {
    auto& of_word = words[w];
    if (of_word.empty() || of_word.back().place != place) of_word.push_back({place, 0, in_order.size()});
    ++of_word.back().count;
  }
}

void bm25::add(const std::vector<posting>& postings, double weight) {
  if (postings.empty() || all_.messages == 0) return;
  auto n = static_cast<double>(std::max<std::uint64_t>(all_.messages, postings.size()));
  auto holding = static_cast<double>(postings.size());
  double rarity = std::log(1 + (n - holding + 0.5) / (holding + 0.5));
  double average = std::max(1.0, static_cast<double>(all_.words) / n);
  for (auto& p : postings) {
    auto count = static_cast<double>(p.count);
    double size = 1 - length_share + length_share * static_cast<double>(p.length) / average;
    scores_[p.place] += weight * rarity * count * (saturation + 1) / (count + saturation * size);
  }
}

std::vector<std::uint64_t> bm25::ranked() const {
  struct scored {
    std::uint64_t place;
    double score;
  };
  std::vector<scored> all;
  all.reserve(scores_.size());
  for (auto& [place, score] : scores_) all.push_back({place, score});
  sort_by_score(all);
  std::vector<std::uint64_t> out;
  out.reserve(all.size());
  for (auto& s : all) out.push_back(s.place);
  return out;
}

std::vector<fused> fuse(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second,
                        double first_weight, double second_weight) {
  std::unordered_map<std::uint64_t, fused> by_place;
  auto take = [&](const std::vector<std::uint64_t>& ranking, double weight,
                  std::optional<std::size_t> fused::*rank) {
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      auto& f = by_place[ranking[i]];
      f.place = ranking[i];
      f.*rank = i + 1;
      f.score += weight / (rank_offset + static_cast<double>(i + 1));
    }
  };
  take(first, first_weight, &fused::first_rank);
  take(second, second_weight, &fused::second_rank);
  std::vector<fused> out;
  out.reserve(by_place.size());
  for (auto& [place, f] : by_place) out.push_back(f);
  sort_by_score(out);
  return out;
}

} // namespace troupe::search
