#include "core/tools/memory.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe::tools {

void throw_exception_from_error(const tool_exception& e, const boost::source_location&) {
  throw std::runtime_error("unchecked tool exception: " + e.message);
}

const block* memory::find(std::string_view label) const noexcept {
  auto it = std::find_if(blocks_.begin(), blocks_.end(), [&](auto& b) { return b.label == label; });
  return it == blocks_.end() ? nullptr : &*it;
}

outcome<const block*> memory::get(std::string_view label) const {
  if (auto* b = find(label)) return b;
  std::string labels;
  for (auto& b : blocks_) labels.append(labels.empty() ? "" : ", ").append(b.label);
  // str() of a KeyError is the repr of its argument.
  return tool_exception{"KeyError", json::python_repr(std::string_view{
                                        "Block field " + std::string(label) +
                                        " does not exist (available sections = " + labels + ")"})};
}

block& memory::at(std::string_view label) {
  return *std::find_if(blocks_.begin(), blocks_.end(), [&](auto& b) { return b.label == label; });
}

memory_edit& memory::record(memory_edit::kind what, block& b, std::string text) {
  edits_.push_back({what, b.id, b.version, std::move(text), std::nullopt});
  ++b.version; // as it will be once this edit is accepted
  return edits_.back();
}

void memory::set_value(std::string_view label, std::string value) {
  auto& b = at(label);
  if (b.value == value) return;
  b.value = value;
  record(memory_edit::kind::value, b, std::move(value));
}

void memory::create(block b) {
  edits_.push_back({memory_edit::kind::create, b.id, 0, {}, b});
  blocks_.push_back(std::move(b));
}

void memory::detach(std::string_view label) {
  auto it = std::find_if(blocks_.begin(), blocks_.end(), [&](auto& b) { return b.label == label; });
  edits_.push_back({memory_edit::kind::detach, it->id, it->version, {}, std::nullopt});
  blocks_.erase(it);
}

void memory::rename(std::string_view label, std::string new_label) {
  auto& b = at(label);
  b.label = new_label;
  record(memory_edit::kind::rename, b, std::move(new_label));
}

void memory::describe(std::string_view label, std::string description) {
  auto& b = at(label);
  b.description = description;
  record(memory_edit::kind::describe, b, std::move(description));
}

} // namespace troupe::tools
