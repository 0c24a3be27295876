#include "core/schema/tool.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

void tool::write_json(std::string& out, const tool& t) {
  json::object_writer w(out);
  bool own = false;
  json::for_each_member<tool>([&](auto d) {
    auto name = json::json_name(d.name);
    own |= name == "organization_id";
    if (!own) w.add(name, t.*d.pointer);
  });
}

namespace {

template <class T>
bool read_member(json::reader& r, const json::object& o, const char* name, T& out, bool is_required) {
  auto* member = json::find(o, name);
  if (!member && !is_required) return true;
  json::reader::scope at(r, name);
  if (!member) return r.fail("missing", "Field required", json::value(o));
  return json::read(r, *member, out);
}

bool read_conditional(json::reader& r, const json::object& o, tool_rule& out) {
  bool good = read_member(r, o, "default_child", out.default_child, false);
  good &= read_member(r, o, "child_output_mapping", out.child_output_mapping, true);
  if (auto* mapping = json::find(o, "child_output_mapping");
      mapping && mapping->is_object() && mapping->get_object().empty()) {
    json::reader::scope at(r, "child_output_mapping");
    good &= r.fail_value("Conditional tool rule must have at least one child tool.", *mapping);
  }
  return good & read_member(r, o, "require_output_mapping", out.require_output_mapping, false);
}

bool read_child_arg_nodes(json::reader& r, const json::object& o, tool_rule& out) {
  auto* nodes = json::find(o, "child_arg_nodes");
  if (!nodes || nodes->is_null()) return true;
  json::reader::scope at(r, "child_arg_nodes");
  auto* list = nodes->if_array();
  if (!list) return r.fail("list_type", "Input should be a valid list", *nodes);
  for (std::size_t i = 0; i < list->size(); ++i) {
    json::reader::scope index(r, i);
    std::string name(json::string_or((*list)[i], "name"));
    if (std::find(out.children.begin(), out.children.end(), name) == out.children.end())
      return r.fail_value("child_arg_nodes contains '" + name + "' which is not in children", (*list)[i]);
    auto* args = json::find((*list)[i], "args");
    if (args && !args->is_null() && !args->is_object())
      return r.fail("dict_type", "Input should be a valid dictionary", *args);
  }
  out.child_arg_nodes = *nodes;
  return true;
}

} // namespace

bool tool_rule::read_json(json::reader& r, const json::value& v, tool_rule& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  auto tag = json::string_or(v, "type");
  auto type = json::enum_from<tool_rule_type>(tag);
  if (!type) {
    auto expected = json::alternatives(json::enum_texts<tool_rule_type>());
    if (!json::find(v, "type"))
      return r.fail("union_tag_not_found", "Unable to extract tag using discriminator 'type'", v,
                    "{'discriminator': \"'type'\"}");
    return r.fail("union_tag_invalid",
                  "Input tag '" + std::string(tag) +
                      "' found using 'type' does not match any of the expected tags: " + expected,
                  v,
                  "{'discriminator': \"'type'\", 'tag': " + json::python_repr(tag) +
                      ", 'expected_tags': " + json::python_repr(std::string_view{expected}) + "}");
  }
  json::reader::scope at(r, tag);
  out.type = *type;
  bool good = read_member(r, *o, "tool_name", out.tool_name, true);
  good &= read_member(r, *o, "prompt_template", out.prompt_template, false);
  switch (*type) {
  case tool_rule_type::run_first: return good & read_member(r, *o, "args", out.args, false);
  case tool_rule_type::conditional: return good & read_conditional(r, *o, out);
  case tool_rule_type::constrain_child_tools:
    good &= read_member(r, *o, "children", out.children, true);
    return good & read_child_arg_nodes(r, *o, out);
  case tool_rule_type::parent_last_tool: return good & read_member(r, *o, "children", out.children, true);
  case tool_rule_type::max_count_per_step:
    return good & read_member(r, *o, "max_count_limit", out.max_count_limit, true);
  default: return good;
  }
}

void tool_rule::write_json(std::string& out, const tool_rule& rule) {
  json::object_writer w(out);
  w.add("tool_name", rule.tool_name).add("type", rule.type).add("prompt_template", rule.prompt_template);
  switch (rule.type) {
  case tool_rule_type::run_first: w.add("args", rule.args); break;
  case tool_rule_type::conditional:
    w.add("default_child", rule.default_child)
        .add("child_output_mapping", rule.child_output_mapping)
        .add("require_output_mapping", rule.require_output_mapping);
    break;
  case tool_rule_type::constrain_child_tools:
    w.add("children", rule.children).add("child_arg_nodes", rule.child_arg_nodes);
    break;
  case tool_rule_type::parent_last_tool: w.add("children", rule.children); break;
  case tool_rule_type::max_count_per_step: w.add("max_count_limit", rule.max_count_limit); break;
  default: break;
  }
}

bool operator==(const tool_rule& a, const tool_rule& b) {
  auto sorted = [](std::vector<std::string> v) {
    std::sort(v.begin(), v.end());
    return v;
  };
  return a.type == b.type && a.tool_name == b.tool_name && a.args == b.args &&
         sorted(a.children) == sorted(b.children) && a.child_arg_nodes == b.child_arg_nodes &&
         a.default_child == b.default_child && a.child_output_mapping == b.child_output_mapping &&
         a.require_output_mapping == b.require_output_mapping && a.max_count_limit == b.max_count_limit;
}

std::vector<tool_rule> deduplicated(const std::vector<tool_rule>& rules) {
  std::vector<tool_rule> out;
  for (auto& rule : rules)
    if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(rule);
  return out;
}

} // namespace troupe
