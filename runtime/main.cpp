#include "runtime/commands.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    return troupe::runtime::run_command_line(argc, argv);
  } catch (const std::exception& e) { std::fprintf(stderr, "troupe: %s\n", e.what()); } catch (...) {
    std::fputs("troupe: an unknown failure\n", stderr);
  }
  return 1;
}
