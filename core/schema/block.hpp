// A memory block (reference: resources §4).
#pragma once

#include "core/schema/enums.hpp"

namespace troupe {

struct block {
  // -- the API's members, in its order
  std::string value;
  std::int64_t limit = 100000; // characters; shown, not enforced
  std::optional<std::string> project_id;
  std::optional<std::string> template_name;
  bool is_template = false;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::string> deployment_id;
  std::optional<std::string> entity_id;
  std::optional<bool> preserve_on_migration = false;
  std::string label;
  bool read_only = false; // for the memory tools, not for the API
  std::optional<std::string> description;
  json::object metadata;
  std::optional<bool> hidden;
  block_id id;
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  std::vector<std::string> tags;
  // -- ours
  org_id organization_id;
  timestamp created_at;
  timestamp updated_at;
  std::int64_t version = 1; // rises by one with every accepted edit

  // `with_tags` is false inside an agent, where the original does not load them.
  static void write_api(std::string& out, const block& b, bool with_tags = true);
};
BOOST_DESCRIBE_STRUCT(block, (),
                      (value, limit, project_id, template_name, is_template, template_id, base_template_id,
                       deployment_id, entity_id, preserve_on_migration, label, read_only, description,
                       metadata, hidden, id, created_by_id, last_updated_by_id, tags, organization_id,
                       created_at, updated_at, version))

struct create_block {
  std::optional<std::string> value;
  std::int64_t limit = 100000;
  std::optional<std::string> project_id;
  std::optional<std::string> template_name;
  bool is_template = false;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::string> deployment_id;
  std::optional<std::string> entity_id;
  std::optional<bool> preserve_on_migration = false;
  std::string label;
  bool read_only = false;
  std::optional<std::string> description;
  std::optional<json::object> metadata;
  std::optional<bool> hidden;
  std::optional<std::vector<std::string>> tags;

  static constexpr std::string_view required[] = {"label"};
};
BOOST_DESCRIBE_STRUCT(create_block, (),
                      (value, limit, project_id, template_name, is_template, template_id, base_template_id,
                       deployment_id, entity_id, preserve_on_migration, label, read_only, description,
                       metadata, hidden, tags))

// PATCH of a block: null and absent both mean unchanged, but is_template and read_only may not be null.
struct update_block {
  std::optional<std::string> value;
  std::optional<std::int64_t> limit;
  std::optional<std::string> project_id;
  std::optional<std::string> template_name;
  std::optional<bool> is_template;
  std::optional<std::string> template_id;
  std::optional<std::string> base_template_id;
  std::optional<std::string> deployment_id;
  std::optional<std::string> entity_id;
  std::optional<bool> preserve_on_migration;
  std::optional<std::string> label;
  std::optional<bool> read_only;
  std::optional<std::string> description;
  std::optional<json::object> metadata;
  std::optional<bool> hidden;
  std::optional<std::vector<std::string>> tags;

  static bool read_json(json::reader& r, const json::value& v, update_block& out);
};
BOOST_DESCRIBE_STRUCT(update_block, (),
                      (value, limit, project_id, template_name, is_template, template_id, base_template_id,
                       deployment_id, entity_id, preserve_on_migration, label, read_only, description,
                       metadata, hidden, tags))

class environment;
block make_block(const create_block& request, const org_id& org, environment& env);

// Applies the change; true where one of the members that a prompt shows is different afterwards
// (value, label, description, limit, read_only).
bool apply(block& b, const update_block& change);

} // namespace troupe
