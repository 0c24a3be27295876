// The memory that tools work on: fresh copies of an agent's blocks, and what was done to them. Nothing here touches
// the store; the edits go into the step's batch, which refuses them where a block has moved on in the meantime.
#pragma once

#include "core/schema/agent.hpp"

namespace troupe::tools {

// One accepted change, in order.
struct memory_edit {
  enum class kind { value, create, detach, rename, describe };
  kind what = kind::value;
  block_id id;
  std::int64_t base_version = 0; // of the block that the edit was made on; 0 for a new one
  std::string text;              // the new value, label or description
  std::optional<block> created;
};

// A tool's own exception, named as Python's: clients see the name in the error line.
struct tool_exception {
  // Not an aggregate: C++20 would make it constructible from a text alone, and results of texts ambiguous.
  tool_exception() = default;
  tool_exception(std::string kind, std::string text) : type(std::move(kind)), message(std::move(text)) {}
  std::string type; // ValueError, KeyError, TypeError
  std::string message;
};
template <class T> using outcome = boost::system::result<T, tool_exception>;
[[noreturn]] void throw_exception_from_error(const tool_exception& e, const boost::source_location&);

inline tool_exception value_error(std::string message) { return {"ValueError", std::move(message)}; }

class memory {
public:
  explicit memory(std::vector<block> blocks) : blocks_(std::move(blocks)) {}

  const std::vector<block>& blocks() const noexcept { return blocks_; }
  const std::vector<memory_edit>& edits() const noexcept { return edits_; }

  const block* find(std::string_view label) const noexcept;
  // The block, or KeyError with the labels that there are.
  outcome<const block*> get(std::string_view label) const;

  void set_value(std::string_view label, std::string value);
  void create(block b);
  void detach(std::string_view label);
  void rename(std::string_view label, std::string new_label);
  void describe(std::string_view label, std::string description);

private:
  block& at(std::string_view label);
  memory_edit& record(memory_edit::kind what, block& b, std::string text);
  std::vector<block> blocks_;
  std::vector<memory_edit> edits_;
};

} // namespace troupe::tools
