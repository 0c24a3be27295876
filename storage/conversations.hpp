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
  std::optional<std::string> group;        // only messages that were sent in it
};
std::vector<stored_message> thread(const reader& r, const conversation_id& id, const thread_query& q);

enum class conversation_order { created_at, last_run_completion, last_message_at };
BOOST_DESCRIBE_ENUM(conversation_order, created_at, last_run_completion, last_message_at)

struct conversation_query {
  std::size_t limit = 50;
  sort_order order = sort_order::desc;
  conversation_order by = conversation_order::created_at;
  std::optional<agent_id> agent;
  std::optional<std::string> summary; // case-sensitive part
  std::optional<conversation_id> after;
};
// Those without the time that is asked for come last in both orders.
std::vector<conversation> list_conversations(const reader& r, const org_id& org, const conversation_query& q);

} // namespace troupe::storage
