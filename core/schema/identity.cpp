#include "core/schema/identity.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

// A value is anything but null and a list.
bool identity_property::read_json(json::reader& r, const json::value& v, identity_property& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  bool good = json::read_members(r, *o, out);
  auto* value = json::find(*o, "value");
  if (!value || !(value->is_null() || value->is_array())) return good;
  json::reader::scope at(r, "value");
  // Each of the types that a value may have says what is wrong.
  constexpr const char* refusals[][3] = {{"str", "string_type", "string"},
                                         {"int", "int_type", "integer"},
                                         {"float", "float_type", "number"},
                                         {"bool", "bool_type", "boolean"},
                                         {"dict[any,any]", "dict_type", "dictionary"}};
  for (auto& [tag, type, noun] : refusals) {
    json::reader::scope inside(r, std::string_view(tag));
    r.fail(type, std::string("Input should be a valid ") + noun, *value);
  }
  return false;
}

// agent_ids and block_ids are always empty: clients are to ask for the lists.
void identity::write_json(std::string& out, const identity& i) {
  json::object_writer(out)
      .add("id", i.id)
      .add("identifier_key", i.identifier_key)
      .add("name", i.name)
      .add("identity_type", i.identity_type_)
      .add("project_id", i.project_id)
      .raw("agent_ids", "[]")
      .raw("block_ids", "[]")
      .add("organization_id", i.organization_id)
      .add("properties", i.properties);
}

void merge_properties(std::vector<identity_property>& into, const std::vector<identity_property>& given) {
  for (auto& p : given) {
    auto it = std::find_if(into.begin(), into.end(), [&](auto& have) { return have.key == p.key; });
    if (it != into.end())
      *it = p;
    else
      into.push_back(p);
  }
}

} // namespace troupe
