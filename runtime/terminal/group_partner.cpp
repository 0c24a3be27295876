#include "runtime/terminal/groups.hpp"
#include "runtime/terminal/partner.hpp"

#include <iostream>

namespace troupe::runtime {

namespace {

class group_partner final : public partner {
public:
  group_partner(connection& server, group_card g, agent_names names)
      : server_(server), group_(std::move(g)), names_(std::move(names)) {}

  std::string title() const override { return line_of(group_) + " (" + group_.kind + ", " + group_.id + ")"; }

  result<void> send(const std::string& text, std::ostream& out) override {
    printer shown(out, names_);
    auto sent = server_.stream("/v1/groups/" + group_.id + "/messages/stream", message_body(text),
                               [&](std::string_view data) { shown.event(data); });
    shown.end();
    if (sent && !group_.keeps_memory()) show_reasons(server_, group_, shown.run(), out);
    return sent;
  }

private:
  connection& server_;
  group_card group_;
  agent_names names_;
};

} // namespace

result<std::unique_ptr<partner>> find_group_partner(connection& server, const chat_options& o) {
  auto names = names_of_agents(server);
  if (!names) return names.error();
  auto groups = groups_of(server, *names);
  if (!groups) return groups.error();
  auto found = find_group(*groups, o.group);
  if (!found) return found.error();
  return std::unique_ptr<partner>(
      std::make_unique<group_partner>(server, std::move(*found), std::move(*names)));
}

} // namespace troupe::runtime
