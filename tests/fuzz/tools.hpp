// What a model writes into the arguments of memory tools: edits or an error, and no edit of a read-only block.
#pragma once

#include "core/json/value.hpp"
#include "core/tools/block_tools.hpp"
#include "core/tools/core_tools.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

inline tools::memory some_memory() {
  block human, rules;
  human.label = "human";
  human.value = "Name: Ada\nLikes: tea\n\tand cake\nLikes: tea";
  rules.label = "rules";
  rules.value = "Never change.";
  rules.read_only = true;
  return tools::memory({human, rules});
}

inline void check_memory(const tools::memory& m) {
  auto* rules = m.find("rules");
  must(rules && rules->value == "Never change.", "a read-only block changed");
  if (m.edits().empty()) must(m.find("human") != nullptr, "a block went without an edit");
}

// The bytes as a patch, and as the arguments of every memory tool.
inline void memory_tools(std::string_view bytes) {
  system_environment env;
  agent self;
  for (std::string label : {"human", "", "rules"}) {
    auto m = some_memory();
    auto done = tools::blocks::apply_patch(m, label, std::string(bytes), self, env);
    if (!done) must(!done.error().message.empty(), "an error without a message");
    check_memory(m);
  }
  auto arguments = json::try_parse(bytes);
  if (!arguments || !arguments->is_object()) return;
  for (auto name : {"memory", "memory_insert", "memory_replace", "memory_rethink", "memory_apply_patch",
                    "core_memory_append", "core_memory_replace", "conversation_search", "send_message"}) {
    auto m = some_memory();
    tools::tool_context context{self, m, env,
                                [](auto&) { return std::vector<std::shared_ptr<const message>>{}; }};
    tools::run_core_tool(name, arguments->get_object(), context);
    check_memory(m);
  }
}

} // namespace troupe::fuzz
