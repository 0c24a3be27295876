// Who waits for whom: contexts of agents and groups whose turn cannot go on before another one's has ended. Every edge
// is checked before it is added, so the graph never has a cycle: an ask that would close one is refused at once, and
// names it, instead of waiting for ever (reference: groups §7.7).
//
// Shared by all actors of a process; each call holds a lock for a walk over the live waits.
#pragma once

#include "core/base/id.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::actors {

class wait_graph {
public:
  // From now on `who` waits for `whom`. Gives the cycle, `who` first and last, where that would close one; then nothing
  // is added.
  std::optional<std::vector<uuid>> begin(const uuid& who, const uuid& whom);
  void end(const uuid& who, const uuid& whom);
  // An actor that is gone waits for nobody.
  void forget(const uuid& who);
  std::size_t edges() const;

private:
  std::optional<std::vector<uuid>> path(const uuid& from, const uuid& to) const;

  mutable std::mutex lock_;
  std::map<uuid, std::map<uuid, std::size_t>> waits_; // how often: parallel asks of one turn
};

} // namespace troupe::actors
