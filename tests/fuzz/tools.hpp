// Arguments of memory tools, as a model writes them: edits or an error, and no other text in a read-only block.
#pragma once

#include "core/json/value.hpp"
#include "core/tools/block_tools.hpp"
#include "core/tools/core_tools.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

inline tools::memory some_memory() {
  block human, rules;
  human.id = *block_id::parse("block-00000000-0000-4000-8000-000000000001");
  human.label = "human";
  human.value = "Name: Ada\nLikes: tea\n\tand cake\nLikes: tea";
  rules.id = *block_id::parse("block-00000000-0000-4000-8000-000000000002");
  rules.label = "rules";
  rules.value = "Never change.";
  rules.read_only = true;
  return tools::memory({human, rules});
}

// A read-only block may be detached or get another label, its text stays.
inline void check_memory(const tools::memory& m) {
  for (auto& b : m.blocks())
    if (b.read_only) must(b.value == "Never change.", "the text of a read-only block changed");
  for (auto& e : m.edits())
    must(e.what != tools::memory_edit::kind::value ||
             e.id.str() != "block-00000000-0000-4000-8000-000000000002",
         "an edit of a read-only block");
  if (m.edits().empty()) must(m.find("human") && m.find("rules"), "a block went without an edit");
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
                    "core_memory_append", "core_memory_replace", "conversation_search", "search_memory",
                    "send_message"}) {
    auto m = some_memory();
    tools::tool_context context{self, m, env,
                                [](auto&) { return std::vector<std::shared_ptr<const message>>{}; }};
    tools::run_core_tool(name, arguments->get_object(), context);
    check_memory(m);
  }
}

} // namespace troupe::fuzz
