// Which tools may be called next, with which arguments fixed, and whether one must be (reference: resources §7,
// agent-loop §2.6). One solver serves one request; its history begins empty.
#pragma once

#include "core/schema/tool.hpp"

namespace troupe::turn {

struct prefilled_arguments {
  json::object values;
  std::string source; // the rule that said so last
};

class tool_rules {
public:
  tool_rules() = default;
  explicit tool_rules(std::vector<tool_rule> rules) : rules_(std::move(rules)) {}

  // Names of the tools that may be called now, in the order of `available`. `last_output` is the message of the newest
  // tool result. An empty intersection allows all of them.
  std::vector<std::string> allowed(const std::vector<std::string>& available,
                                   const std::optional<json::value>& last_output) const;
  // True where the model must call a tool: initial rules are pending, or the last tool decides what follows.
  bool must_call() const;
  // Arguments that the rules fix for a tool; they override the model's.
  prefilled_arguments prefilled(const std::string& tool_name, const std::vector<std::string>& allowed) const;

  void called(const std::string& tool_name) { history_.push_back(tool_name); }
  bool ends_turn(const std::string& tool_name) const { return has(tool_rule_type::exit_loop, tool_name); }
  bool continues(const std::string& tool_name) const { return has(tool_rule_type::continue_loop, tool_name); }
  bool has_children(const std::string& tool_name) const;
  bool needs_approval(const std::string& tool_name) const {
    return has(tool_rule_type::requires_approval, tool_name);
  }
  // Required tools that are there and were not called yet.
  std::vector<std::string> uncalled_required(const std::vector<std::string>& available) const;
  // The sentences of rules that a refused call may have broken.
  std::vector<std::string> hints(const std::string& tool_name) const;
  // Any rule beside those about approval: with such rules the model is not offered parallel calls.
  bool constrains() const;

private:
  bool has(tool_rule_type type, const std::string& tool_name) const;
  bool at_start() const;
  const std::vector<tool_rule>& rules() const { return rules_; }
  std::vector<tool_rule> rules_;
  std::vector<std::string> history_;
};

// What is wrong with prefilled arguments for a tool of this schema; empty where nothing is.
std::vector<std::string> check_prefilled(const std::string& tool_name, const json::object& arguments,
                                         const json::object& parameters);

} // namespace troupe::turn
