// Organisations and users.
#pragma once

#include "core/base/environment.hpp"
#include "core/schema/organization.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<organization> find_organization(const reader& r, const org_id& id);
std::optional<user> find_user(const reader& r, const user_id& id);
std::vector<organization> list_organizations(const reader& r, std::size_t limit,
                                             const std::optional<org_id>& after);
std::vector<user> list_users(const reader& r, std::size_t limit, const std::optional<user_id>& after);

void put_organization(transaction& t, const organization& o);
void put_user(transaction& t, const user& u);
void erase_organization(transaction& t, const org_id& id);
void erase_user(transaction& t, const user_id& id);

// "X not found with id='[..]', access level in ['read'] for actor='..'": how the API words it on many routes.
error not_found_for(std::string_view kind, const std::string& id, const actor& by);

} // namespace troupe::storage
