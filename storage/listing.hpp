// Pages over an index whose keys end in a time and an id (reference: resources §1.8): limit, order, and cursors that
// are ids of entities.
#pragma once

#include "core/schema/enums.hpp"
#include "storage/tables.hpp"

namespace troupe::storage {

struct page {
  std::size_t limit = 50; // 0: no limit
  sort_order order = sort_order::desc;
  // Places of the cursors in the index: created | id. Empty where there is none. `after` is later in the chosen
  // order, `before` earlier; both together are a window.
  std::string after;
  std::string before;

  // The cursor on the side of the small places, and the one on the side of the large.
  const std::string& low() const noexcept { return order == sort_order::asc ? after : before; }
  const std::string& high() const noexcept { return order == sort_order::asc ? before : after; }
  // Whether a place is between them.
  bool holds(std::string_view at) const noexcept {
    return (low().empty() || at > low()) && (high().empty() || at < high());
  }
};

// The place of an entity in an index by time.
std::string place(timestamp created, const uuid& id);

// Visits the ids below the prefix page by page: `visit` gives true where it took the entity, which counts against the
// limit. `before` without `after` takes the first ones of the order, as everywhere in the API.
void list(const reader& r, const key& prefix, const page& p, const std::function<bool(const uuid&)>& visit);

} // namespace troupe::storage
