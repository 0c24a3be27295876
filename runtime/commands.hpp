// The command line: troupe serve | chat | check | backup | version.
#pragma once

namespace troupe::runtime {

// Runs the command; gives the exit status. Errors go to the error output as one line that says what to do.
int run_command_line(int argc, char** argv);

} // namespace troupe::runtime
