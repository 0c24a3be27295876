// Conversations: named threads on an agent.
#pragma once

#include "core/schema/conversation.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

std::optional<conversation> find_conversation(const reader& r, const conversation_id& id);
std::optional<conversation> find_conversation(const reader& r, const conversation_id& id, const org_id& org);
void create_conversation(transaction& t, const conversation& c, const stored_message& system);
void put_conversation(transaction& t, const conversation& c);
// With what belongs to it alone.
void erase_conversation(transaction& t, const conversation& c);
std::vector<conversation_id> conversations_of(const reader& r, const agent_id& agent);
void erase_conversations(transaction& t, const agent_id& agent);

// All messages ever linked to it, by position.
struct thread_query {
  std::size_t limit = 100;
  bool newest_first = true;
  std::optional<message_id> before, after; // unknown ones are passed over
};
std::vector<stored_message> thread(const reader& r, const conversation_id& id, const thread_query& q);

struct conversation_query {
  std::size_t limit = 50;
  sort_order order = sort_order::desc;
  std::optional<agent_id> agent;
  std::optional<std::string> summary; // case-sensitive part
  std::optional<conversation_id> after;
};
std::vector<conversation> list_conversations(const reader& r, const org_id& org, const conversation_query& q);

} // namespace troupe::storage
