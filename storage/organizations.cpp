#include "storage/organizations.hpp"

namespace troupe::storage {

std::optional<organization> find_organization(const reader& r, const org_id& id) {
  return load<organization>(r, key(table::organizations).add(id));
}
std::optional<user> find_user(const reader& r, const user_id& id) {
  return load<user>(r, key(table::users).add(id));
}

namespace {
template <class T, class Id>
std::vector<T> list_all(const reader& r, table t, std::size_t limit, const std::optional<Id>& after) {
  std::vector<T> out;
  auto prefix = key(t).str();
  auto from = after ? key(t).add(*after).str() + '\0' : prefix;
  r.scan(from, after_prefix(prefix), reader::direction::forward, [&](auto, std::string_view bytes) {
    if (auto record = codec::decode<T>(bytes)) out.push_back(std::move(*record));
    return limit == 0 || out.size() < limit;
  });
  return out;
}
} // namespace

std::vector<organization> list_organizations(const reader& r, std::size_t limit,
                                             const std::optional<org_id>& after) {
  return list_all<organization>(r, table::organizations, limit, after);
}
std::vector<user> list_users(const reader& r, std::size_t limit, const std::optional<user_id>& after) {
  return list_all<user>(r, table::users, limit, after);
}

void put_organization(transaction& t, const organization& o) {
  save(t, key(table::organizations).add(o.id), o);
}
void put_user(transaction& t, const user& u) { save(t, key(table::users).add(u.id), u); }
void erase_organization(transaction& t, const org_id& id) { t.erase(key(table::organizations).add(id)); }
void erase_user(transaction& t, const user_id& id) { t.erase(key(table::users).add(id)); }

error not_found_for(std::string_view kind, const std::string& id, const actor& by) {
  return fail(errc::not_found, std::string(kind) + " not found with id='['" + id +
                                   "']', access level in ['read'] for actor='id='" + by.user.str() +
                                   "' organization_id='" + by.org.str() + "''");
}

} // namespace troupe::storage
