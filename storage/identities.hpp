// Identities and what belongs to them.
#pragma once

#include "core/schema/identity.hpp"
#include "core/schema/organization.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<identity> find_identity(const reader& r, const identity_id& id);
std::optional<identity> find_identity(const reader& r, const identity_id& id, const org_id& org);
std::optional<identity> find_identity_by_key(const reader& r, const org_id& org,
                                             const std::optional<std::string>& project,
                                             std::string_view identifier);

// Errors: conflict, where another identity has the key.
result<void> put_identity(transaction& t, const identity& i);
// Takes it away from its agents, too.
void erase_identity(transaction& t, const identity& i);

std::vector<agent_id> agents_of_identity(const reader& r, const identity_id& id);
// Adds the identity to these agents; such as are not there are passed over.
void add_agents(transaction& t, const identity& i, const std::vector<agent_id>& agents);
// Takes the identity away from all others.
void keep_agents(transaction& t, const identity& i, const std::vector<agent_id>& agents);

struct identity_query {
  page pages;
  std::optional<std::string> name; // case-insensitive part
  std::optional<std::string> project_id, identifier_key;
  std::optional<identity_type> type;
};
std::vector<identity> list_identities(const reader& r, const org_id& org, const identity_query& q);

} // namespace troupe::storage
