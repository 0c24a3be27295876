// Groups: records, who belongs to them and who manages them, listings, shared blocks, messages.
#pragma once

#include "core/schema/group.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

std::optional<group> find_group(const reader& r, const group_id& id);
std::optional<group> find_group(const reader& r, const group_id& id, const org_id& org);

// What the group names has to be there: its members (not_found), its manager (conflict).
// The shared blocks go to the members and the manager. Errors: those of attach_block.
result<void> create_group(transaction& t, const group& g);
result<void> update_group(transaction& t, const group& g, environment& env);
// Its record alone: counters.
void save_group(transaction& t, const group& g);
// The agents stay; what its companions still had to do is cancelled.
void erase_group(transaction& t, const group& g, environment& env);

// Where an agent is a member, where it manages; oldest first.
std::vector<group> groups_of_member(const reader& r, const agent_id& agent);
std::vector<group> groups_of_manager(const reader& r, const agent_id& agent);
// The one that an agent shows: the first that it manages.
std::optional<group> managed_group(const reader& r, const agent_id& agent);
// The group that answers for an agent: what is said to it is said to the group.
std::optional<group_id> group_led_by(const reader& r, const agent_id& agent);
// An agent that goes: it is no member any more.
void leave_groups(transaction& t, const agent_id& agent);

struct group_query {
  page pages;
  std::optional<agent_id> member;
  std::optional<manager_type> type;
  std::optional<std::string> project_id;
};
std::vector<group> list_groups(const reader& r, const org_id& org, const group_query& q);

// A block for the group, its members and its manager, and away from all of them; again is fine.
result<void> share_block(transaction& t, group g, const block& b);
void unshare_block(transaction& t, group g, const block_id& b);

// -- messages -------------------------------------------------------------------------------------
// The places of the messages that carry the group's id, oldest first. Of a group with a manager those are its
// manager's, as clients know it; `everybody`: of all agents.
std::vector<message_place> group_messages(const reader& r, const group& g, bool everybody);

// Takes them out of the store. A message that still stands in a context is taken out of that, too.
void erase_group_messages(transaction& t, const std::vector<message_place>& messages);

// The contexts in which any of these messages stands.
std::vector<context_key> contexts_of(const reader& r, const std::vector<message_place>& messages);

} // namespace troupe::storage
