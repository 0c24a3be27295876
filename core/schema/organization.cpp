#include "core/schema/organization.hpp"

namespace troupe {

namespace {
uuid default_uuid() { return *uuid::parse("00000000-0000-4000-8000-000000000000"); }
} // namespace

org_id default_org_id() { return org_id{default_uuid()}; }
user_id default_user_id() { return user_id{default_uuid()}; }

} // namespace troupe
