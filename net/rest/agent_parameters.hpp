// What the agent lists take, and which relations an answer shows (reference: resources §2.11).
#pragma once

#include "net/rest/parameters.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

// One word of `include`: agent.blocks and so on. A list of them is a set of relations.
struct include_word {
  std::string value;
};
bool read(json::reader& r, const json::value& v, include_word& out);

struct include_parameters {
  std::vector<std::string> include_relationships; // legacy words; unknown ones are passed over
  std::vector<include_word> include;
};
BOOST_DESCRIBE_STRUCT(include_parameters, (), (include_relationships, include))

// Without any of both, SDKs of version 1 get no relations, older callers all.
agent_relations relations(const call& c, const include_parameters& p);
// What `include` alone asks for: the lists of the agents of something else know no legacy words.
agent_relations included(const include_parameters& p);

struct agent_filter_parameters {
  std::optional<std::string> name, query_text, project_id, template_id, base_template_id, identity_id,
      created_by_id;
  std::vector<std::string> tags, identifier_keys;
  bool match_all_tags = false;
  std::optional<stop_reason> last_stop_reason;
  bool show_hidden_agents = false;
};
BOOST_DESCRIBE_STRUCT(agent_filter_parameters, (),
                      (name, query_text, project_id, template_id, base_template_id, identity_id,
                       created_by_id, tags, identifier_keys, match_all_tags, last_stop_reason,
                       show_hidden_agents))

storage::agent_query agent_query_of(const agent_filter_parameters& p);

// An array of AgentStates.
std::string agent_states(const storage::reader& r, const std::vector<agent>& agents,
                         const agent_relations& include);

// A page of a short list, as cut_page; `find` gives the row of a cursor, which need not be in the list.
template <class T, class Find>
void cut_page_at(std::vector<T>& all, page_parameters p, sort_order default_order, Find&& find) {
  bool forward = p.order.value_or(default_order) == sort_order::asc;
  auto place = [](const T& x) { return std::pair(x.created_at, x.id); };
  auto earlier = [&](const T& x, const T& y) { return forward ? place(x) < place(y) : place(y) < place(x); };
  if (auto cursor = p.after ? find(*p.after) : std::nullopt)
    std::erase_if(all, [&](const T& x) { return !earlier(*cursor, x); });
  if (auto cursor = p.before ? find(*p.before) : std::nullopt)
    std::erase_if(all, [&](const T& x) { return !earlier(x, *cursor); });
  p.before.reset();
  p.after.reset();
  cut_page(all, p, 50, default_order);
}

// "Agent with ID X not found"
error no_agent(const agent_id& id);

} // namespace troupe::net::rest
