// A tool as stored and shown (reference: resources §5.1, §6.1) and the rules that govern its calls (§7.1).
#pragma once

#include "core/schema/enums.hpp"

#include <memory>

namespace troupe {

struct tool {
  // -- the API's members, in its order
  tool_id id;
  tool_type tool_type_ = tool_type::custom;
  std::optional<std::string> description;
  std::optional<std::string> source_type;
  std::string name;
  std::vector<std::string> tags;
  std::optional<std::string> source_code;
  std::optional<json::object> json_schema;
  std::optional<json::object> args_json_schema;
  std::int64_t return_char_limit = 50000; // characters
  std::optional<json::value> pip_requirements;
  std::optional<json::value> npm_requirements;
  std::optional<bool> default_requires_approval;
  std::optional<bool> enable_parallel_execution = false;
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  json::object metadata__;
  std::optional<std::string> project_id;
  // -- ours
  org_id organization_id;
  timestamp created_at;
  timestamp updated_at;

  static void write_json(std::string& out, const tool& t);
};
BOOST_DESCRIBE_STRUCT(tool, (),
                      (id, tool_type_, description, source_type, name, tags, source_code, json_schema,
                       args_json_schema, return_char_limit, pip_requirements, npm_requirements,
                       default_requires_approval, enable_parallel_execution, created_by_id,
                       last_updated_by_id, metadata__, project_id, organization_id, created_at, updated_at))

using shared_tool = std::shared_ptr<const tool>;

// One rule. Which of the further members count depends on the type; the API shows only those.
struct tool_rule {
  std::string tool_name;
  tool_rule_type type = tool_rule_type::continue_loop;
  std::optional<std::string> prompt_template; // accepted, kept, without effect
  std::optional<json::object> args;           // run_first: prefilled arguments
  std::vector<std::string> children;          // constrain_child_tools, parent_last_tool
  std::optional<json::value> child_arg_nodes; // constrain_child_tools: [{name, args}]
  std::optional<std::string> default_child;   // conditional
  json::object child_output_mapping;          // conditional
  bool require_output_mapping = false;        // conditional
  std::int64_t max_count_limit = 0;           // max_count_per_step

  static bool read_json(json::reader& r, const json::value& v, tool_rule& out);
  static void write_json(std::string& out, const tool_rule& rule);
};
BOOST_DESCRIBE_STRUCT(tool_rule, (),
                      (tool_name, type, prompt_template, args, children, child_arg_nodes, default_child,
                       child_output_mapping, require_output_mapping, max_count_limit))

bool operator==(const tool_rule& a, const tool_rule& b);

// Without repetitions, order kept.
std::vector<tool_rule> deduplicated(const std::vector<tool_rule>& rules);

inline tool_rule make_rule(tool_rule_type type, std::string tool_name) {
  tool_rule rule;
  rule.type = type;
  rule.tool_name = std::move(tool_name);
  return rule;
}

} // namespace troupe
