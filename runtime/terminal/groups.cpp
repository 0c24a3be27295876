#include "runtime/terminal/groups.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>

namespace troupe::runtime {

namespace {

std::string name_of(const agent_names& names, std::string_view id) {
  auto it = names.find(std::string(id));
  return it == names.end() ? std::string(id) : it->second;
}

group_card card_of(const json::value& g, const agent_names& names) {
  group_card c;
  c.id = json::string_or(g, "id");
  c.kind = json::string_or(g, "manager_type");
  c.title = json::string_or(g, "description");
  if (auto manager = json::string_or(g, "manager_agent_id"); !manager.empty())
    c.manager = name_of(names, manager);
  if (auto* ids = json::find(g, "agent_ids"))
    for (auto& id : items_of(*ids)) c.members.push_back(name_of(names, json::view(id.as_string())));
  if (auto every = json::int_or(g, "sleeptime_agent_frequency", -1); every >= 0) c.frequency = every;
  if (c.title.empty()) c.title = c.keeps_memory() ? c.manager + "'s memory" : "(no description)";
  return c;
}

std::string how_often(const group_card& g) {
  if (!g.frequency || g.frequency == 1) return "after every turn";
  if (g.frequency == 0) return "switched off";
  return "after every " + std::to_string(*g.frequency) + " turns";
}

} // namespace

result<agent_names> names_of_agents(connection& server) {
  auto all = server.ask("GET", "/v1/agents/?limit=1000");
  if (!all) return all.error();
  agent_names out;
  for (auto& a : items_of(*all)) out.emplace(json::string_or(a, "id"), json::string_or(a, "name"));
  return out;
}

result<std::vector<group_card>> groups_of(connection& server, const agent_names& names) {
  auto all = server.ask("GET", "/v1/groups/?limit=1000");
  if (!all) return all.error();
  std::vector<group_card> out;
  for (auto& g : items_of(*all)) out.push_back(card_of(g, names));
  return out;
}

// -- which one is meant ---------------------------------------------------------------------------
namespace {

bool has_words(const std::string& title, const std::string& words) {
  auto inside = [&](std::size_t at) {
    return at < title.size() && std::isalnum(static_cast<unsigned char>(title[at]));
  };
  for (auto at = title.find(words); at != std::string::npos; at = title.find(words, at + 1))
    if ((at == 0 || !inside(at - 1)) && !inside(at + words.size())) return true;
  return false;
}

// How well a text names a group; 0: not at all.
int fit(const group_card& g, const std::string& wanted) {
  auto title = text::lower(g.title), words = text::lower(wanted);
  if (g.id == wanted) return 4;
  if (title == words) return 3;
  if (title.starts_with(words)) return 2;
  return has_words(title, words) ? 1 : 0;
}

} // namespace

result<group_card> find_group(const std::vector<group_card>& groups, const std::string& wanted) {
  int best = 1;
  std::vector<const group_card*> found;
  for (auto& g : groups) {
    auto how = fit(g, wanted);
    if (how < best) continue;
    if (how > best) found.clear();
    best = how;
    found.push_back(&g);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty())
    return fail(errc::not_found, "there is no group \"" + wanted + "\": `troupe groups` lists them");
  std::vector<std::string> titles;
  titles.reserve(found.size());
  for (auto* g : found) titles.push_back(g->title + " (" + g->id + ")");
  return fail(errc::invalid_argument,
              "\"" + wanted + "\" names more than one group: " + text::join(titles, ", "));
}

// -- what is shown --------------------------------------------------------------------------------
std::string line_of(const group_card& g) {
  auto members = text::join(g.members, ", ");
  if (g.keeps_memory()) return g.title + ": " + members + ", " + how_often(g);
  return g.title + ": " + (g.manager.empty() ? members : g.manager + " leads " + members);
}

namespace {

std::string_view done_by(std::string_view task) {
  if (task == "choose") return "chose";
  if (task == "manage") return "led";
  return task == "reply" ? "answered" : "spoke";
}

const json::array& parts_of(const json::value& trace) {
  static const json::value none;
  auto* parts = json::find(trace, "parts");
  return items_of(parts ? *parts : none);
}

// "Olaf spoke: next in order"
std::string reason_of(const json::value& part) {
  auto out = std::string(json::string_or(part, "agent_name", "somebody")) + " ";
  out += done_by(json::string_or(part, "task"));
  if (auto why = json::string_or(part, "why"); !why.empty()) out.append(": ").append(why);
  return out;
}

result<json::value> trace_of(connection& server, const std::string& group, const std::string& run) {
  return server.ask("GET", "/v1/groups/" + group + "/runs/" + run + "/trace");
}

// A run does not tell whose it is: the group that knows it does.
result<void> show_trace(connection& server, const std::vector<group_card>& groups, const std::string& run,
                        std::ostream& out) {
  for (auto& g : groups) {
    auto trace = trace_of(server, g.id, run);
    if (!trace) continue;
    out << g.title << std::endl;
    for (auto& p : parts_of(*trace))
      out << "  " << reason_of(p) << " (" << json::string_or(p, "status") << ", "
          << json::int_or(p, "total_tokens", 0) << " tokens, " << json::string_or(p, "run_id") << ")"
          << std::endl;
    return {};
  }
  return fail(errc::not_found, "no group has a run " + run);
}

} // namespace

void show_reasons(connection& server, const group_card& g, const std::string& run, std::ostream& out) {
  auto trace = trace_of(server, g.id, run);
  if (!trace) return;
  std::vector<std::string> reasons;
  for (auto& p : parts_of(*trace)) reasons.push_back(reason_of(p));
  if (!reasons.empty()) out << "  (" << text::join(reasons, "; ") << ")" << std::endl;
}

result<void> show_groups(const server_address& at, const std::string& traced_run, std::ostream& out) {
  connection server(at);
  auto names = names_of_agents(server);
  if (!names) return names.error();
  auto groups = groups_of(server, *names);
  if (!groups) return groups.error();
  if (!traced_run.empty()) return show_trace(server, *groups, traced_run, out);
  for (auto& g : *groups) out << line_of(g) << "\n  " << g.kind << ", " << g.id << std::endl;
  if (groups->empty()) out << "no groups yet (docs/groups.md)" << std::endl;
  return {};
}

} // namespace troupe::runtime
