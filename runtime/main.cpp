#include "runtime/commands.hpp"

int main(int argc, char** argv) { return troupe::runtime::run_command_line(argc, argv); }
