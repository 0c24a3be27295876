// What `troupe serve` prints when it is up: where it is, and what a newcomer can type.
#pragma once

#include "runtime/config.hpp"

#include <iosfwd>

namespace troupe::runtime {

std::string url_of(const config& c, std::uint16_t port);
// Lines of curl that make an agent and talk to it.
void print_example(std::ostream& out, const std::string& url, const std::string& password);
// Who is in the demo cast, and how to talk to them. `program`: how this one was called.
void print_cast(std::ostream& out, const std::string& program, const std::string& url,
                const std::string& password);

} // namespace troupe::runtime
