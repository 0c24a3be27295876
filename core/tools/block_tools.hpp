// Edits of memory blocks: each function takes the memory and its arguments, changes the memory or leaves it as it
// was, and gives the text that the tool returns (reference: resources §5.3–5.5).
#pragma once

#include "core/base/environment.hpp"
#include "core/tools/memory.hpp"

namespace troupe::tools::blocks {

outcome<std::string> append(memory& m, const std::string& label, const std::string& content);
outcome<std::string> replace_all(memory& m, const std::string& label, const std::string& old_content,
                                 const std::string& new_content);
// Exactly one occurrence, tabs expanded; 0 and more than one are errors that name the place.
outcome<std::string> replace_once(memory& m, const std::string& label, const std::string& old_string,
                                  const std::string& new_string);
// After line `line`: 0 is the top, -1 the end.
outcome<std::string> insert(memory& m, const std::string& label, const std::string& new_string,
                            std::int64_t line);
outcome<std::string> rethink(memory& m, const std::string& label, const std::string& new_memory);
// One block by a unified diff, or several by `*** Add Block:` and the like.
outcome<std::string> apply_patch(memory& m, const std::string& label, const std::string& patch,
                                 const agent& self, environment& env);

// The arguments of the tool `memory`.
struct memory_command {
  std::string command;
  std::optional<std::string> path, file_text, description, old_string, new_string, insert_text, old_path,
      new_path;
  std::int64_t insert_line = -1;
};
outcome<std::string> run(memory& m, const memory_command& c, const agent& self, environment& env);

// The parts of `memory` that the patch uses too. `path` may start with /memories/ or /.
outcome<std::string> create(memory& m, const std::string& path, const std::string& description,
                            const std::string& value, const agent& self, environment& env);
outcome<std::string> remove(memory& m, const std::string& path);
outcome<std::string> rename(memory& m, const std::string& old_path, const std::string& new_path);
// read-only blocks refuse every edit by a tool.
outcome<const block*> writable(const memory& m, std::string_view label);
outcome<const block*> existing(const memory& m, std::string_view label);

} // namespace troupe::tools::blocks
