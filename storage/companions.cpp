#include "storage/companions.hpp"

#include "core/agents/companion.hpp"
#include "storage/agents.hpp"
#include "storage/groups.hpp"
#include "storage/tools.hpp"

#include <algorithm>

namespace troupe::storage {

result<void> create_companion(transaction& t, const agent& main, const actor& by, environment& env) {
  auto request = agents::companion_request(main);
  std::vector<tool> tools;
  for (auto& name : agents::wanted_tool_names(request))
    if (auto found = find_tool_by_name(t, main.organization_id, name)) tools.push_back(std::move(*found));
  auto made = agents::make_agent(request, main.llm, main.embedding, tools, blocks_of(t, main), by,
                                 main.project_id, env);
  if (!made) return made.error();
  made->record.tool_rules = deduplicated(made->record.tool_rules);
  create_agent(t, *made);
  return create_group(t, agents::companion_group(main, made->record.id, env));
}

void share_with_companions(transaction& t, const agent& main, const block& b) {
  auto g = managed_group(t, main.id);
  if (!g || g->manager_type_ != manager_type::sleeptime) return;
  for (auto& id : g->agent_ids) {
    auto companion = find_agent(t, id);
    if (!companion || companion->type != agent_type::sleeptime_agent) continue;
    auto blocks = blocks_of(t, *companion);
    if (std::any_of(blocks.begin(), blocks.end(), [&](auto& x) { return x.label == b.label; })) continue;
    auto changed = *companion;
    changed.block_ids.push_back(b.id);
    put_agent(t, changed, &*companion);
  }
}

namespace {

void end_sleeptime(transaction& t, const group& g, environment& env) {
  erase_group(t, g, env);
  auto main = g.manager_agent_id ? find_agent(t, *g.manager_agent_id) : std::nullopt;
  if (!main) return;
  auto changed = *main;
  changed.enable_sleeptime.reset();
  put_agent(t, changed, &*main);
}

void add_once(std::vector<agent_id>& all, const std::vector<agent_id>& more) {
  for (auto& id : more)
    if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
}

} // namespace

result<void> delete_agent(transaction& t, const agent& a, environment& env) {
  std::vector<agent_id> going{a.id};
  for (std::size_t i = 0; i < going.size(); ++i) {
    for (auto& g : groups_of_manager(t, going[i])) {
      if (!is_sleeptime(g.manager_type_))
        return fail(errc::conflict, "CONFLICT: agent " + going[i].str() + " manages the group " + g.id.str() +
                                        ", which has to be deleted first");
      erase_group(t, g, env);
      add_once(going, g.agent_ids);
    }
    for (auto& g : groups_of_member(t, going[i]))
      if (is_sleeptime(g.manager_type_)) end_sleeptime(t, g, env);
  }
  for (auto& id : going)
    if (auto found = find_agent(t, id)) erase_agent(t, *found);
  return {};
}

} // namespace troupe::storage
