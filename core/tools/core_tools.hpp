// The built-in tools that work on the agent's own state, as functions (reference: resources §5.3–5.5). The texts of
// results and errors are part of the interface: models and clients see them.
#pragma once

#include "core/base/environment.hpp"
#include "core/tools/memory.hpp"

#include <functional>
#include <memory>

namespace troupe::tools {

struct search_query {
  std::optional<std::string> text; // case-insensitive substring
  std::vector<message_role> roles; // empty: all
  std::optional<timestamp> start, end;
  std::int64_t limit = 5;
  std::size_t looks_at = 20'000; // messages at most, the newest of that time
};

struct search_found {
  search_found(std::vector<std::shared_ptr<const message>> newest_first, bool cut = false)
      : messages(std::move(newest_first)), is_cut(cut) {}
  std::vector<std::shared_ptr<const message>> messages;
  bool is_cut; // older ones were not looked at
};

// What was stored of a conversation before it left the context.
struct saved_text {
  timestamp created_at;
  std::string text;
};

// What tools read of the agent's store.
struct searches {
  std::function<search_found(const search_query&)> history; // messages of this agent, newest first
  // Of that time, newest first; the newest thousand.
  std::function<std::vector<saved_text>(std::optional<timestamp> start, std::optional<timestamp> end)>
      saved{};
  std::function<std::string()> heard{}; // what was said to it last
};

// What a core tool may see beside its arguments.
struct tool_context {
  const agent& self;
  memory& blocks;
  environment& env;
  searches search;
};

struct tool_result {
  return_status status = return_status::success;
  json::value returned; // as Python's value would be decoded
  std::optional<std::vector<std::string>> stdout_;
  std::optional<std::vector<std::string>> stderr_;
};

// What a tool that ran elsewhere did to a block that it was shown.
struct block_change {
  std::string label, value;
};

// Runs one of the core tools with its parsed arguments. A wrong call (missing or unknown arguments, wrong types) is
// an error result like any other.
tool_result run_core_tool(std::string_view name, const json::object& arguments, tool_context& context);

constexpr std::size_t max_error_chars = 1000; // of the line about an exception

// An argument as text. Nothing where it is missing or null.
std::optional<std::string> optional_argument(const json::object& a, std::string_view name);

// The arguments of a call against the names that its tool takes, as Python checks and words it. `method`: as it is
// named there. Nothing where they fit.
std::optional<tool_exception> wrong_arguments(std::string_view method, const json::object& given,
                                              const std::vector<std::string_view>& required,
                                              const std::vector<std::string_view>& optional = {});

// The error result for an exception of a core tool.
tool_result failed(std::string_view tool_name, const tool_exception& e);

} // namespace troupe::tools
