#include "actors/wait_graph.hpp"

#include <deque>

namespace troupe::actors {

// Breadth first, so that the cycle that is named is the shortest.
std::optional<std::vector<uuid>> wait_graph::path(const uuid& from, const uuid& to) const {
  std::map<uuid, uuid> came_from{{from, from}};
  std::deque<uuid> open{from};
  while (!open.empty()) {
    auto at = open.front();
    open.pop_front();
    if (at == to) {
      std::vector<uuid> out{at};
      while (out.back() != from) out.push_back(came_from.at(out.back()));
      return std::vector<uuid>(out.rbegin(), out.rend());
    }
    auto it = waits_.find(at);
    if (it == waits_.end()) continue;
    for (auto& [next, n] : it->second)
      if (came_from.emplace(next, at).second) open.push_back(next);
  }
  return std::nullopt;
}

std::optional<std::vector<uuid>> wait_graph::begin(const uuid& who, const uuid& whom) {
  std::lock_guard guard(lock_);
  if (auto back = path(whom, who)) {
    back->insert(back->begin(), who);
    return back;
  }
  ++waits_[who][whom];
  return std::nullopt;
}

void wait_graph::end(const uuid& who, const uuid& whom) {
  std::lock_guard guard(lock_);
  auto it = waits_.find(who);
  if (it == waits_.end()) return;
  auto edge = it->second.find(whom);
  if (edge != it->second.end() && --edge->second == 0) it->second.erase(edge);
  if (it->second.empty()) waits_.erase(it);
}

void wait_graph::forget(const uuid& who) {
  std::lock_guard guard(lock_);
  waits_.erase(who);
}

std::size_t wait_graph::edges() const {
  std::lock_guard guard(lock_);
  std::size_t n = 0;
  for (auto& [who, whom] : waits_) n += whom.size();
  return n;
}

} // namespace troupe::actors
