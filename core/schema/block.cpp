#include "core/schema/block.hpp"

#include "core/base/environment.hpp"
#include "core/json/writer.hpp"

namespace troupe {

void block::write_api(std::string& out, const block& b, bool with_tags) {
  json::object_writer w(out);
  bool own = false;
  json::for_each_member<block>([&](auto d) {
    auto name = json::json_name(d.name);
    own |= name == "organization_id"; // from here on the members are ours
    if (own) return;
    if (name == "tags" && !with_tags)
      w.raw(name, "[]");
    else
      w.add(name, b.*d.pointer);
  });
}

bool update_block::read_json(json::reader& r, const json::value& v, update_block& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = true;
  for (std::string_view name : {"is_template", "read_only"})
    if (auto* member = json::find(*o, name); member && member->is_null()) {
      json::reader::scope at(r, name);
      good = r.fail("bool_type", "Input should be a valid boolean", *member);
    }
  return json::read_members(r, *o, out) && good;
}

block make_block(const create_block& request, const org_id& org, environment& env) {
  block b;
  b.value = request.value.value_or("");
  b.limit = request.limit;
  b.project_id = request.project_id;
  b.template_name = request.template_name;
  b.is_template = request.is_template;
  b.template_id = request.template_id;
  b.base_template_id = request.base_template_id;
  b.deployment_id = request.deployment_id;
  b.entity_id = request.entity_id;
  b.preserve_on_migration = request.preserve_on_migration.value_or(false);
  b.label = request.label;
  b.read_only = request.read_only;
  b.description = request.description;
  b.metadata = request.metadata.value_or(json::object{});
  b.hidden = request.hidden;
  b.tags = request.tags.value_or(std::vector<std::string>{});
  b.id = env.make_id<block_id>();
  b.organization_id = org;
  b.created_at = b.updated_at = env.now();
  return b;
}

bool apply(block& b, const update_block& change) {
  bool shown = false;
  auto take = [](auto& member, const auto& given) {
    if (!given || member == *given) return false;
    member = *given;
    return true;
  };
  auto take_optional = [](auto& member, const auto& given) {
    if (given) member = given;
  };
  shown |= take(b.value, change.value);
  shown |= take(b.limit, change.limit);
  shown |= take(b.label, change.label);
  shown |= take(b.read_only, change.read_only);
  if (change.description && b.description != change.description)
    b.description = change.description, shown = true;
  take(b.is_template, change.is_template);
  take_optional(b.project_id, change.project_id);
  take_optional(b.template_name, change.template_name);
  take_optional(b.template_id, change.template_id);
  take_optional(b.base_template_id, change.base_template_id);
  take_optional(b.deployment_id, change.deployment_id);
  take_optional(b.entity_id, change.entity_id);
  take_optional(b.preserve_on_migration, change.preserve_on_migration);
  take_optional(b.hidden, change.hidden);
  if (change.metadata) b.metadata = *change.metadata;
  if (change.tags) b.tags = *change.tags;
  return shown;
}

} // namespace troupe
