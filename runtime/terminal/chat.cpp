#include "runtime/terminal/chat.hpp"

#include "runtime/terminal/partner.hpp"

#include <iostream>

namespace troupe::runtime {

result<void> chat(const chat_options& options, std::istream& in, std::ostream& out) {
  connection server(options.server);
  auto partner =
      options.group.empty() ? find_agent_partner(server, options) : find_group_partner(server, options);
  if (!partner) return partner.error();
  if (!options.message.empty()) return (*partner)->send(options.message, out);
  out << (*partner)->title() << ". An empty line or Ctrl-D ends." << std::endl;
  for (std::string line; out << "\n> " << std::flush && std::getline(in, line) && !line.empty();)
    if (auto sent = (*partner)->send(line, out); !sent) return sent.error();
  out << std::endl;
  return {};
}

} // namespace troupe::runtime
