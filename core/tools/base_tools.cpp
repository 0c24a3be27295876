#include "core/tools/base_tools.hpp"

#include "core/base/embedded.hpp"
#include "core/base/environment.hpp"
#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe::tools {

const std::vector<base_tool>& base_tools() {
  static const std::vector<base_tool> list = [] {
    std::vector<base_tool> out;
    auto doc = json::try_parse(embedded("tools/base_tools.json"));
    for (auto& item : doc->get_array())
      out.push_back({std::string(json::string_or(item, "name")),
                     *json::enum_from<tool_type>(json::string_or(item, "tool_type")),
                     json::find(item, "enable_parallel_execution")->get_bool(),
                     json::find(item, "json_schema")->get_object()});
    return out;
  }();
  return list;
}

tool make_base_tool(const base_tool& t, const organization& org, const user_id& by, environment& env) {
  tool row;
  row.id = env.make_id<tool_id>();
  row.tool_type_ = t.type;
  row.source_type = "python";
  row.name = t.name;
  row.tags = {std::string(json::enum_text(t.type))};
  row.enable_parallel_execution = t.parallel;
  row.created_by_id = row.last_updated_by_id = by;
  row.organization_id = org.id;
  row.created_at = row.updated_at = env.now();
  refresh_base_tool(row, t);
  return row;
}

bool refresh_base_tool(tool& row, const base_tool& t) {
  auto description = json::string_or(t.schema, "description");
  if (row.json_schema && *row.json_schema == t.schema && row.tool_type_ == t.type &&
      row.description == description)
    return false;
  row.json_schema = t.schema;
  row.description = std::string(json::string_or(t.schema, "description"));
  row.tool_type_ = t.type;
  return true;
}

bool is_base_tool(std::string_view name) {
  return std::any_of(base_tools().begin(), base_tools().end(), [&](auto& t) { return t.name == name; });
}

bool is_core_tool(const tool& t) {
  return t.tool_type_ == tool_type::letta_core || t.tool_type_ == tool_type::letta_memory_core ||
         t.tool_type_ == tool_type::letta_sleeptime_core ||
         t.tool_type_ == tool_type::letta_voice_sleeptime_core;
}

} // namespace troupe::tools
