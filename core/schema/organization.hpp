// Organisations and users (reference: resources §1.2). Everything belongs to an organisation.
#pragma once

#include "core/schema/enums.hpp"

namespace troupe {

struct organization {
  org_id id;
  std::string name;
  timestamp created_at;
  bool privileged_tools = false;
};
BOOST_DESCRIBE_STRUCT(organization, (), (id, name, created_at, privileged_tools))

struct user {
  user_id id;
  org_id organization_id;
  std::string name;
  timestamp created_at;
  timestamp updated_at;
  bool is_deleted = false;
};
BOOST_DESCRIBE_STRUCT(user, (), (id, organization_id, name, created_at, updated_at, is_deleted))

// Who acts in a request.
struct actor {
  user_id user;
  org_id org;
};
BOOST_DESCRIBE_STRUCT(actor, (), (user, org))

// The ones that exist from the first start.
org_id default_org_id();
user_id default_user_id();

} // namespace troupe
