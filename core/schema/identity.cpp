#include "core/schema/identity.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

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
