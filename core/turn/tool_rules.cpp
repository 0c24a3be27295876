#include "core/turn/tool_rules.hpp"

#include "core/prompt/system_prompt.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace troupe::turn {

namespace {

using names = std::vector<std::string>;

bool contains(const names& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_child_based(tool_rule_type t) {
  return t == tool_rule_type::constrain_child_tools || t == tool_rule_type::conditional ||
         t == tool_rule_type::max_count_per_step;
}

std::optional<double> as_number(std::string_view s) {
  double d = 0;
  auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), d);
  if (ec != std::errc{} || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return d;
}

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return s;
}

// Through JSON every key of a mapping is text; it matches the output as the value that it spells.
bool matches(std::string_view key, const json::value& output) {
  auto shown = json::python_str(output);
  if (key == shown) return true;
  if (output.is_bool()) return lower(std::string(key)) == lower(shown);
  auto number = as_number(key);
  if (!number) return false;
  if (output.is_number()) return output.to_number<double>() == *number;
  auto said = as_number(shown);
  return said && *said == *number;
}

std::set<std::string> allowed_by_condition(const tool_rule& rule, const std::set<std::string>& available,
                                           const std::optional<json::value>& output) {
  if (output)
    for (auto& [key, child] : rule.child_output_mapping)
      if (matches({key.data(), key.size()}, *output)) return {json::python_str(child)};
  if (rule.default_child) return {*rule.default_child};
  return rule.require_output_mapping ? std::set<std::string>{} : available;
}

std::set<std::string> intersection(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.begin()));
  return out;
}

} // namespace

bool tool_rules::has(tool_rule_type type, const std::string& tool_name) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](auto& r) { return r.type == type && r.tool_name == tool_name; });
}

bool tool_rules::at_start() const {
  return history_.empty() && std::any_of(rules_.begin(), rules_.end(),
                                         [](auto& r) { return r.type == tool_rule_type::run_first; });
}

bool tool_rules::has_children(const std::string& tool_name) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](auto& r) { return is_child_based(r.type) && r.tool_name == tool_name; });
}

bool tool_rules::constrains() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](auto& r) { return r.type != tool_rule_type::requires_approval; });
}

names tool_rules::allowed(const names& available, const std::optional<json::value>& last_output) const {
  if (at_start()) {
    names first;
    for (auto& r : rules_)
      if (r.type == tool_rule_type::run_first && contains(available, r.tool_name))
        first.push_back(r.tool_name);
    return first.empty() ? available : first; // an initial tool that nobody attached must not lock the agent
  }
  const std::set<std::string> all(available.begin(), available.end());
  auto last = history_.empty() ? std::string{} : history_.back();
  std::set<std::string> now = all;
  for (auto& r : rules_) {
    std::set<std::string> by_rule = all;
    bool is_last = !history_.empty() && last == r.tool_name;
    const std::set<std::string> children(r.children.begin(), r.children.end());
    if (r.type == tool_rule_type::constrain_child_tools && is_last)
      by_rule = children;
    else if (r.type == tool_rule_type::parent_last_tool) {
      if (is_last)
        by_rule = children;
      else
        for (auto& c : children) by_rule.erase(c);
    } else if (r.type == tool_rule_type::conditional && is_last)
      by_rule = allowed_by_condition(r, all, last_output);
    else if (r.type == tool_rule_type::max_count_per_step &&
             std::count(history_.begin(), history_.end(), r.tool_name) >= r.max_count_limit)
      by_rule.erase(r.tool_name);
    now = intersection(now, by_rule);
  }
  names out;
  for (auto& name : available)
    if (now.contains(name)) out.push_back(name);
  return out.empty() ? available : out;
}

bool tool_rules::must_call() const {
  if (at_start()) return true;
  if (history_.empty()) return false;
  return std::any_of(rules_.begin(), rules_.end(), [&](auto& r) {
    bool decides = r.type == tool_rule_type::constrain_child_tools || r.type == tool_rule_type::conditional ||
                   r.type == tool_rule_type::parent_last_tool;
    return decides && r.tool_name == history_.back();
  });
}

prefilled_arguments tool_rules::prefilled(const std::string& tool_name, const names& allowed) const {
  prefilled_arguments out;
  auto take = [&](const json::object& args, std::string source) {
    for (auto& [key, v] : args) out.values[key] = v;
    if (!args.empty()) out.source = std::move(source);
  };
  bool start = at_start();
  for (auto& r : rules_) {
    if (start && r.type == tool_rule_type::run_first && r.tool_name == tool_name && r.args)
      take(*r.args, "InitToolRule(" + tool_name + ")");
    bool parent_was_last = r.type == tool_rule_type::constrain_child_tools && !history_.empty() &&
                           history_.back() == r.tool_name;
    if (!parent_was_last || !r.child_arg_nodes || !r.child_arg_nodes->is_array() ||
        !contains(allowed, tool_name))
      continue;
    for (auto& node : r.child_arg_nodes->get_array())
      if (json::string_or(node, "name") == tool_name)
        if (auto* args = json::find(node, "args"); args && args->is_object())
          take(args->get_object(), "ChildToolRule(" + r.tool_name + "->" + tool_name + ")");
  }
  return out;
}

names tool_rules::uncalled_required(const names& available) const {
  names out;
  for (auto& r : rules_)
    if (r.type == tool_rule_type::required_before_exit && contains(available, r.tool_name) &&
        !contains(history_, r.tool_name) && !contains(out, r.tool_name))
      out.push_back(r.tool_name);
  return out;
}

names tool_rules::hints(const std::string& tool_name) const {
  names out;
  auto previous = history_.empty() ? std::string{} : history_.back();
  auto take = [&](auto wanted) {
    for (auto& r : rules_)
      if (wanted(r.type) && (r.tool_name == tool_name || (!previous.empty() && r.tool_name == previous)))
        if (auto sentence = prompt::rule_sentence(r); !sentence.empty()) out.push_back(sentence);
  };
  take([](tool_rule_type t) { return t == tool_rule_type::continue_loop; });
  take(is_child_based);
  take([](tool_rule_type t) { return t == tool_rule_type::parent_last_tool; });
  take([](tool_rule_type t) { return t == tool_rule_type::exit_loop; });
  return out;
}

namespace {

bool is_of_type(const json::value& v, std::string_view type) {
  if (type == "string") return v.is_string();
  if (type == "integer") return v.is_int64() || v.is_uint64();
  if (type == "number") return v.is_number();
  if (type == "boolean") return v.is_bool();
  if (type == "array") return v.is_array();
  if (type == "object") return v.is_object();
  if (type == "null") return v.is_null();
  return true;
}

bool conforms(const json::value& v, const json::value& schema) {
  for (auto* group : {"anyOf", "oneOf"})
    if (auto* options = json::find(schema, group); options && options->is_array())
      return std::any_of(options->get_array().begin(), options->get_array().end(),
                         [&](auto& s) { return conforms(v, s); });
  if (auto* constant = json::find(schema, "const")) return *constant == v;
  if (auto* choices = json::find(schema, "enum"); choices && choices->is_array())
    return std::find(choices->get_array().begin(), choices->get_array().end(), v) !=
           choices->get_array().end();
  auto* type = json::find(schema, "type");
  if (!type) return true;
  if (type->is_string()) return is_of_type(v, json::view(type->get_string()));
  if (type->is_array())
    return std::any_of(type->get_array().begin(), type->get_array().end(),
                       [&](auto& t) { return t.is_string() && is_of_type(v, json::view(t.get_string())); });
  return true;
}

std::string expected_type(const json::value& schema) {
  auto* type = json::find(schema, "type");
  return type ? json::python_repr(*type) : "None";
}

} // namespace

names check_prefilled(const std::string& tool_name, const json::object& arguments,
                      const json::object& parameters) {
  names out;
  auto* properties = json::find(parameters, "properties");
  for (auto& [key, v] : arguments) {
    std::string name{key.data(), key.size()};
    auto* schema = properties ? json::find(*properties, name) : nullptr;
    if (!schema)
      out.emplace_back("Unknown argument '")
          .append(name)
          .append("' for tool '")
          .append(tool_name)
          .append("'.");
    else if (!conforms(v, *schema))
      out.push_back("Invalid value for '" + name + "': " + json::python_repr(v) +
                    " does not match expected schema type " + expected_type(*schema) + ".");
  }
  return out;
}

} // namespace troupe::turn
