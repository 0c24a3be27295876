#include "core/tools/block_tools.hpp"

#include "core/base/text.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>

namespace troupe::tools::blocks {

namespace {

constexpr const char* read_only_error = "Error This block is read-only and cannot be edited.";

// `12→ text` at the start of any line.
bool has_line_number(const std::string& s) {
  for (auto& line : text::split(s, '\n')) {
    auto at = line.find_first_not_of(" \t");
    if (at == std::string::npos) continue;
    auto digits = at;
    while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
    if (digits > at && line.compare(digits, 3, "→") == 0) return true;
  }
  return false;
}

// Text that was copied from the numbered display has no place in a block.
std::optional<tool_exception> display_text(const std::string& argument, const std::string& value) {
  if (has_line_number(value))
    return value_error(
        argument +
        " contains a line number prefix, which is not allowed. Do not include line numbers when calling "
        "memory tools (line numbers are for display purposes only).");
  if (value.find(prompt::text("line_number_warning")) != std::string::npos)
    return value_error(
        argument +
        " contains a line number warning, which is not allowed. Do not include line number information when "
        "calling memory tools (line numbers are for display purposes only).");
  return std::nullopt;
}

std::size_t count(std::string_view haystack, std::string_view needle) {
  if (needle.empty()) return text::length(haystack) + 1; // as Python's str.count
  std::size_t n = 0;
  for (auto at = haystack.find(needle); at != std::string_view::npos;
       at = haystack.find(needle, at + needle.size()))
    ++n;
  return n;
}

std::string without_prefix(std::string_view path) {
  for (std::string_view p : {"/memories/", "/"})
    if (path.starts_with(p)) path.remove_prefix(p.size());
  return std::string(path);
}

// Some commands also turn the slashes inside into underscores.
std::string flat_label(std::string_view path) { return text::replace_all(without_prefix(path), "/", "_"); }

outcome<std::string> replace_in(memory& m, const block& b, const std::string& old_string,
                                const std::string& new_string) {
  for (auto& [name, value] : {std::pair{"old_string", &old_string}, std::pair{"new_string", &new_string}})
    if (auto wrong = display_text(name, *value)) return *wrong;
  auto from = text::expand_tabs(old_string), to = text::expand_tabs(new_string),
       current = text::expand_tabs(b.value);
  auto n = count(current, from);
  if (n == 0)
    return value_error("No replacement was performed, old_string `" + from +
                       "` did not appear verbatim in memory block with label `" + b.label + "`.");
  if (n > 1) {
    std::string lines;
    std::size_t number = 0;
    for (auto& line : text::split(current, '\n')) {
      ++number;
      if (line.find(from) != std::string::npos)
        lines.append(lines.empty() ? "" : ", ").append(std::to_string(number));
    }
    return value_error("No replacement was performed. Multiple occurrences of old_string `" + from +
                       "` in lines [" + lines + "]. Please ensure it is unique.");
  }
  auto value = text::replace_all(current, from, to);
  m.set_value(b.label, value);
  return value;
}

outcome<std::string> insert_in(memory& m, const block& b, const std::string& argument,
                               const std::string& text, std::int64_t line) {
  if (auto wrong = display_text(argument, text)) return *wrong;
  auto lines = text::split(text::expand_tabs(b.value), '\n');
  auto n = static_cast<std::int64_t>(lines.size());
  if (line == -1) line = n;
  if (line < 0 || line > n)
    return value_error("Invalid `insert_line` parameter: " + std::to_string(line) +
                       ". It should be within the range of lines of the memory block: [0, " +
                       std::to_string(n) + "], or -1 to append to the end of the memory block.");
  auto added = text::split(text::expand_tabs(text), '\n');
  lines.insert(lines.begin() + line, added.begin(), added.end());
  auto value = text::join(lines, "\n");
  m.set_value(b.label, value);
  return value;
}

std::string recompiled(const std::string& what, const std::string& how) {
  return what + " Your system prompt has been recompiled " + how + " and is now active in your context.";
}

} // namespace

outcome<const block*> writable(const memory& m, std::string_view label) {
  auto b = m.get(label);
  if (b && (*b)->read_only) return value_error(read_only_error);
  return b;
}

outcome<const block*> existing(const memory& m, std::string_view label) {
  if (auto* b = m.find(label)) return b;
  return value_error("Error: Memory block '" + std::string(label) + "' does not exist");
}

outcome<std::string> append(memory& m, const std::string& label, const std::string& content) {
  auto b = writable(m, label);
  if (!b) return b.error();
  auto value = (*b)->value + "\n" + content;
  m.set_value(label, value);
  return value;
}

outcome<std::string> replace_all(memory& m, const std::string& label, const std::string& old_content,
                                 const std::string& new_content) {
  auto b = writable(m, label);
  if (!b) return b.error();
  if ((*b)->value.find(old_content) == std::string::npos)
    return value_error("Old content '" + old_content + "' not found in memory block '" + label + "'");
  auto value = text::replace_all((*b)->value, old_content, new_content);
  m.set_value(label, value);
  return value;
}

outcome<std::string> replace_once(memory& m, const std::string& label, const std::string& old_string,
                                  const std::string& new_string) {
  auto b = writable(m, label);
  if (!b) return b.error();
  return replace_in(m, **b, old_string, new_string);
}

outcome<std::string> insert(memory& m, const std::string& label, const std::string& new_string,
                            std::int64_t line) {
  auto b = writable(m, label);
  if (!b) return b.error();
  return insert_in(m, **b, "new_string", new_string, line);
}

outcome<std::string> rethink(memory& m, const std::string& label, const std::string& new_memory) {
  auto b = writable(m, label);
  if (!b) return b.error();
  if (auto wrong = display_text("new_memory", new_memory)) return *wrong;
  m.set_value(label, new_memory);
  return new_memory;
}

outcome<std::string> create(memory& m, const std::string& path, const std::string& description,
                            const std::string& value, const agent& self, environment& env) {
  auto label = without_prefix(path);
  if (label.empty()) return value_error("Error: path is required for create command");
  if (m.find(label)) return value_error("Error: Memory block '" + label + "' already exists");
  create_block request;
  request.label = label;
  request.value = value;
  request.description = description;
  m.create(make_block(request, self.organization_id, env));
  return recompiled("Successfully created memory block '" + label + "'.", "with the new memory block");
}

outcome<std::string> remove(memory& m, const std::string& path) {
  auto label = flat_label(path);
  auto b = existing(m, label);
  if (!b) return b.error();
  if ((*b)->read_only) return value_error(read_only_error);
  m.detach(label);
  return recompiled("Successfully deleted memory block '" + label + "'.", "without this memory block");
}

outcome<std::string> rename(memory& m, const std::string& old_path, const std::string& new_path) {
  auto from = flat_label(old_path), to = flat_label(new_path);
  auto b = existing(m, from);
  if (!b) return b.error();
  if ((*b)->read_only) return value_error(read_only_error);
  if (to.empty() || (to != from && m.find(to)))
    return value_error("Error: Memory block '" + to + "' already exists");
  m.rename(from, to);
  return recompiled("Successfully renamed memory block '" + from + "' to '" + to + "'.",
                    "with the renamed memory block");
}

namespace {

outcome<std::string> describe(memory& m, const std::string& path, const std::string& description) {
  auto label = flat_label(path);
  auto b = existing(m, label);
  if (!b) return b.error();
  if ((*b)->read_only) return value_error(read_only_error);
  m.describe(label, description);
  return recompiled("Successfully updated description of memory block '" + label + "'.",
                    "with the updated description");
}

outcome<std::string> str_replace(memory& m, const memory_command& c) {
  auto label = without_prefix(*c.path);
  auto b = existing(m, label);
  if (!b) return b.error();
  if ((*b)->read_only) return value_error(read_only_error);
  return replace_in(m, **b, *c.old_string, *c.new_string);
}

outcome<std::string> str_insert(memory& m, const memory_command& c) {
  auto label = flat_label(*c.path);
  auto b = existing(m, label);
  if (!b) return b.error();
  if ((*b)->read_only) return value_error(read_only_error);
  return insert_in(m, **b, "insert_text", *c.insert_text, c.insert_line);
}

} // namespace

outcome<std::string> run(memory& m, const memory_command& c, const agent& self, environment& env) {
  auto needs = [&](const std::optional<std::string>& given,
                   const char* name) -> std::optional<tool_exception> {
    if (given) return std::nullopt;
    return value_error("Error: " + std::string(name) + " is required for " + c.command + " command");
  };
  if (c.command == "create") {
    for (auto& missing : {needs(c.path, "path"), needs(c.description, "description")})
      if (missing) return *missing;
    return create(m, *c.path, *c.description, c.file_text.value_or(""), self, env);
  }
  if (c.command == "str_replace") {
    for (auto& missing :
         {needs(c.path, "path"), needs(c.old_string, "old_string"), needs(c.new_string, "new_string")})
      if (missing) return *missing;
    return str_replace(m, c);
  }
  if (c.command == "insert") {
    for (auto& missing : {needs(c.path, "path"), needs(c.insert_text, "insert_text")})
      if (missing) return *missing;
    return str_insert(m, c);
  }
  if (c.command == "delete") {
    if (auto missing = needs(c.path, "path")) return *missing;
    return remove(m, *c.path);
  }
  if (c.command == "rename") {
    if (c.path && c.description) return describe(m, *c.path, *c.description);
    if (c.old_path && c.new_path) return rename(m, *c.old_path, *c.new_path);
    return value_error("Error: path and description are required for update_description command, or old_path "
                       "and new_path are required "
                       "for rename command");
  }
  return value_error("Error: Unknown command '" + c.command +
                     "'. Supported commands: create, str_replace, insert, delete, rename");
}

} // namespace troupe::tools::blocks
