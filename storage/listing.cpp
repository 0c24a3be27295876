#include "storage/listing.hpp"

namespace troupe::storage {

std::string place(timestamp created, const uuid& id) {
  return big_endian(static_cast<std::uint64_t>(created.us)) + std::string(id.view());
}

void list(const reader& r, const key& prefix, const page& p, const std::function<bool(const uuid&)>& visit) {
  bool forward = p.order == sort_order::asc;
  auto& low = forward ? p.after : p.before; // the cursor on the side of the small keys
  auto& high = forward ? p.before : p.after;
  std::string from = prefix.str(), to = after_prefix(prefix);
  if (!low.empty()) from += low + '\0'; // behind the cursor itself
  if (!high.empty()) to = prefix.str() + high;
  std::size_t taken = 0;
  r.scan(from, to, forward ? reader::direction::forward : reader::direction::backward,
         [&](std::string_view k, std::string_view) {
           if (visit(last_uuid(k))) ++taken;
           return p.limit == 0 || taken < p.limit;
         });
}

} // namespace troupe::storage
