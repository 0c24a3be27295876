// The files of configs/ that are compiled into the binary (cmake/TroupeEmbed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace troupe {

struct embedded_file {
  std::string_view name; // path relative to configs/, e.g. "prompts/memory.txt"
  const char* begin;
  const char* end;
};

const std::vector<embedded_file>& embedded_files();

// The text of one file. A name that is not there is a programming error and ends the process.
std::string_view embedded(std::string_view name);

} // namespace troupe
