// An identity: a person or an organisation outside, whose agents and blocks these are (reference: resources §10.1).
#pragma once

#include "core/schema/enums.hpp"

namespace troupe {

enum class identity_type { org, user, other };
BOOST_DESCRIBE_ENUM(identity_type, org, user, other)

enum class identity_property_type { string, number, boolean, json };
BOOST_DESCRIBE_ENUM(identity_property_type, string, number, boolean, json)

struct identity_property {
  std::string key;
  json::value value;
  identity_property_type type = identity_property_type::string;

  static constexpr std::string_view required[] = {"key", "value", "type"};
  static constexpr bool forbid_extra = true;
  static bool read_json(json::reader& r, const json::value& v, identity_property& out);
};
BOOST_DESCRIBE_STRUCT(identity_property, (), (key, value, type))

struct identity {
  identity_id id;
  std::string identifier_key; // unique inside an organisation and a project
  std::string name;
  identity_type identity_type_ = identity_type::user;
  std::optional<std::string> project_id;
  std::vector<identity_property> properties;
  // -- ours
  org_id organization_id;
  timestamp created_at;
  std::vector<block_id> block_ids; // in the order of attachment

  static void write_json(std::string& out, const identity& i);
};
BOOST_DESCRIBE_STRUCT(identity, (),
                      (id, identifier_key, name, identity_type_, project_id, properties, organization_id,
                       created_at, block_ids))

// Create, and upsert by key.
struct create_identity {
  std::string identifier_key;
  std::string name;
  identity_type identity_type_ = identity_type::user;
  std::optional<std::string> project_id;
  std::optional<std::vector<agent_id>> agent_ids;
  std::optional<std::vector<block_id>> block_ids;
  std::optional<std::vector<identity_property>> properties;

  static constexpr std::string_view required[] = {"identifier_key", "name", "identity_type"};
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(create_identity, (),
                      (identifier_key, name, identity_type_, project_id, agent_ids, block_ids, properties))

// Null and absent mean unchanged; properties are merged by key.
struct update_identity {
  std::optional<std::string> identifier_key;
  std::optional<std::string> name;
  std::optional<identity_type> identity_type_;
  std::optional<std::vector<agent_id>> agent_ids;
  std::optional<std::vector<block_id>> block_ids;
  std::optional<std::vector<identity_property>> properties;

  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(update_identity, (),
                      (identifier_key, name, identity_type_, agent_ids, block_ids, properties))

void merge_properties(std::vector<identity_property>& into, const std::vector<identity_property>& given);

} // namespace troupe
