// Agents: records, relations, listings.
#pragma once

#include "core/agents/create.hpp"
#include "core/schema/agent.hpp"
#include "storage/listing.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

std::optional<agent> find_agent(const reader& r, const agent_id& id);
std::optional<agent> find_agent(const reader& r, const agent_id& id, const org_id& org);
agent_activity activity_of(const reader& r, const agent_id& id);
void put_activity(transaction& t, const agent_id& id, const agent_activity& a);
// `n` messages more in its history, or fewer.
void count_messages(transaction& t, const agent_id& id, std::int64_t n);

// Relations, in the order in which they were attached; what was deleted in the meantime is left out.
std::vector<block> blocks_of_agent(const reader& r, const agent_id& id);
std::vector<block> blocks_of(const reader& r, const agent& a);
std::vector<tool> tools_of(const reader& r, const agent& a);
// With the isolated blocks of a conversation in the place of those with the same labels.
std::vector<block> blocks_of_context(const reader& r, const agent& a,
                                     const std::optional<conversation_id>& conversation);

// The indexes follow: `old` is the record as stored, or null for a new one.
void put_agent(transaction& t, const agent& a, const agent* old);
void create_agent(transaction& t, const agents::new_agent& made);
// With its messages, runs, steps and conversations; blocks and tools stay.
void erase_agent(transaction& t, const agent& a);

// Attaches; attaching again is fine. Errors: conflict, where another block of the agent has the label.
result<void> attach_block(transaction& t, const agent& a, const block& b);

// AgentState as JSON text, with what `include` asks for.
std::string agent_state(const reader& r, const agent& a, const agent_relations& include);

enum class agent_order { created_at, updated_at, last_run_completion };
BOOST_DESCRIBE_ENUM(agent_order, created_at, updated_at, last_run_completion)
struct agent_query {
  std::size_t limit = 50; // 0: no limit
  sort_order order = sort_order::desc;
  agent_order by = agent_order::created_at;
  std::optional<agent_id> after, before; // unknown ones are passed over
  std::optional<std::string> name, query_text, project_id, template_id, base_template_id, created_by_id;
  std::optional<identity_id> identity;
  std::vector<std::string> identifier_keys; // of any of the agent's identities
  std::optional<stop_reason> last_stop_reason;
  std::vector<std::string> tags;
  bool match_all_tags = false;
  bool show_hidden = false;
};
std::vector<agent> list_agents(const reader& r, const org_id& org, const agent_query& q);
std::size_t count_agents(const reader& r, const org_id& org, const agent_query& q);

// Tags of agents and blocks, sorted, each once.
struct tag_query {
  std::size_t limit = 50;
  sort_order order = sort_order::asc;
  std::optional<std::string> after, before; // tags, also such that nobody has
  std::optional<std::string> part;          // case-insensitive
};
std::vector<std::string> list_tags(const reader& r, const org_id& org, const tag_query& q);

} // namespace troupe::storage

namespace troupe::json {
template <> inline constexpr bool is_literal<storage::agent_order> = true;
}
