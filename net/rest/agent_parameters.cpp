#include "net/rest/agent_parameters.hpp"

namespace troupe::net::rest {

namespace {

struct relation {
  std::string_view word, legacy;
  bool agent_relations::*member;
};
constexpr relation known_relations[] = {
    {"agent.blocks", "memory", &agent_relations::blocks},
    {"agent.identities", "identity_ids", &agent_relations::identities},
    {"agent.managed_group", "multi_agent_group", &agent_relations::managed_group},
    {"agent.pending_approval", "", &agent_relations::pending_approval},
    {"agent.secrets", "secrets", &agent_relations::secrets},
    {"agent.sources", "sources", &agent_relations::sources},
    {"agent.tags", "tags", &agent_relations::tags},
    {"agent.tools", "tools", &agent_relations::tools},
    {"", "tool_exec_environment_variables", &agent_relations::secrets},
};

void take(agent_relations& out, std::string_view word, std::string_view relation::*by) {
  for (auto& k : known_relations)
    if (!(k.*by).empty() && k.*by == word) out.*(k.member) = true;
}

} // namespace

bool read(json::reader& r, const json::value& v, include_word& out) {
  if (!json::read(r, v, out.value)) return false;
  std::vector<std::string_view> words;
  for (auto& k : known_relations)
    if (!k.word.empty()) words.push_back(k.word);
  if (std::find(words.begin(), words.end(), out.value) != words.end()) return true;
  auto expected = json::alternatives(words);
  return r.fail("literal_error", "Input should be " + expected, v,
                "{'expected': " + json::python_repr(std::string_view{expected}) + "}");
}

agent_relations relations(const call& c, const include_parameters& p) {
  agent_relations out;
  if (p.include.empty() && p.include_relationships.empty()) return c.new_sdk ? out : agent_relations::all();
  if (!p.include.empty()) return included(p);
  for (auto& word : p.include_relationships) take(out, word, &relation::legacy);
  out.tags |= out.blocks;
  return out;
}

agent_relations included(const include_parameters& p) {
  agent_relations out;
  for (auto& word : p.include) take(out, word.value, &relation::word);
  out.tags |= out.blocks;
  return out;
}

storage::agent_query agent_query_of(const agent_filter_parameters& p) {
  storage::agent_query q;
  q.name = filled(p.name);
  q.query_text = p.query_text;
  q.project_id = filled(p.project_id);
  q.template_id = filled(p.template_id);
  q.base_template_id = filled(p.base_template_id);
  if (auto id = filled(p.identity_id)) q.identity = identity_id::parse(*id).value_or(identity_id{});
  q.identifier_keys = p.identifier_keys;
  q.created_by_id = filled(p.created_by_id);
  q.last_stop_reason = p.last_stop_reason;
  q.tags = p.tags;
  q.match_all_tags = p.match_all_tags;
  q.show_hidden = p.show_hidden_agents;
  return q;
}

std::string agent_states(const storage::reader& r, const std::vector<agent>& agents,
                         const agent_relations& include) {
  return json::list_text(agents, [&](auto& out, auto& a) { out += storage::agent_state(r, a, include); });
}

error no_agent(const agent_id& id) {
  return fail(errc::not_found, "Agent with ID " + id.str() + " not found");
}

} // namespace troupe::net::rest
