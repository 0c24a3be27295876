#include "storage/group_runs.hpp"
#include "storage/groups.hpp"

#include "testing/house.hpp"

namespace troupe::test {

group house::make_group(manager_type type, std::vector<agent_id> members, std::optional<agent_id> manager,
                        const group_options& options) {
  group g;
  g.id = env.make_id<group_id>();
  g.manager_type_ = type;
  g.agent_ids = std::move(members);
  g.manager_agent_id = manager;
  g.options = options;
  g.organization_id = default_org_id();
  g.created_at = env.now();
  auto stored = commit([&](storage::transaction& t) { return storage::create_group(t, g); });
  if (!stored) CAF_FAIL("no group: " << stored.error().message);
  return g;
}

sent_turn house::tell(const group& g, std::string text, mode how) {
  auto leader = g.manager_agent_id.value_or(g.agent_ids.front());
  auto order = new_order(leader, text_request(std::move(text)), how);
  order->group = order->run_row.group = g.id;
  return submit(std::move(order));
}

lines house::said_in(const group& g) const {
  lines out;
  for (auto& e : storage::group_log(*snapshot(), g.id)) {
    auto line = e.name.value_or(e.speaker || e.role == message_role::user ? "user" : "(group)") + ": ";
    for (auto& part : e.content)
      if (auto* t = std::get_if<text_content>(&part)) line += t->text;
    out.push_back(std::move(line));
  }
  return out;
}

} // namespace troupe::test
