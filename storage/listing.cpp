#include "storage/listing.hpp"

namespace troupe::storage {

std::string place(timestamp created, const uuid& id) {
  return big_endian(static_cast<std::uint64_t>(created.us)) + std::string(id.view());
}

void list(const reader& r, const key& prefix, const page& p, const std::function<bool(const uuid&)>& visit) {
  bool forward = p.order == sort_order::asc;
  std::string from = prefix.str(), to = after_prefix(prefix);
  if (!p.low().empty()) from += p.low() + '\0'; // behind the cursor itself
  if (!p.high().empty()) to = prefix.str() + p.high();
  std::size_t taken = 0;
  r.scan(from, to, forward ? reader::direction::forward : reader::direction::backward,
         [&](std::string_view k, std::string_view) {
           if (visit(last_uuid(k))) ++taken;
           return p.limit == 0 || taken < p.limit;
         });
}

} // namespace troupe::storage
