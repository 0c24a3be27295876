// Histories and contexts. A message is stored once, under its agent and its place in the global sequence; a context
// (an agent's default thread, or a conversation) is an ordered list of references to messages.
#pragma once

#include "core/project/messages.hpp"
#include "core/schema/agent.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

using project::stored_message;

// Where a message is.
struct message_place {
  agent_id agent;
  std::uint64_t sequence = 0;
};
std::optional<message_place> find_message_place(const reader& r, const message_id& id);
stored_message load_message(const reader& r, const message_place& at);
// A record of the table messages. Throws where it is damaged.
stored_message decode_message(std::string_view bytes);
stored_message find_message(const reader& r, const message_id& id);

// The key of a context: the agent itself, or one of its conversations.
struct context_key {
  agent_id agent;
  std::optional<conversation_id> conversation;
  uuid owner() const { return conversation ? conversation->value : agent.value; }
};

struct context_entry {
  std::uint64_t position = 0;
  message_id id;
  std::uint64_t sequence = 0;
};
std::vector<context_entry> context_entries(const reader& r, const context_key& c);
std::vector<message_id> context_ids(const reader& r, const context_key& c);
std::vector<stored_message> context_messages(const reader& r, const context_key& c);
// What a context ends with; nothing where it is empty.
stored_message last_of_context(const reader& r, const context_key& c);

// Appends to the history, and to the context where one is given. Gives the sequence of the first.
std::uint64_t append_messages(transaction& t, const std::vector<stored_message>& messages,
                              const context_key* context);
// Rewrites a message in place (the system message only: everything else is immutable).
void rewrite_message(transaction& t, const message_place& at, const message& m);
// The context becomes exactly this.
void replace_context(transaction& t, const context_key& c, const std::vector<context_entry>& entries);
// What another context of the agent holds, but for what is first in it, is held by this one as well.
void share_context(transaction& t, const context_key& from, const context_key& to);
// Down to the system message.
void clear_context(transaction& t, const context_key& c);

struct history_query {
  std::size_t limit = 100;
  bool newest_first = true;            // which end the window is taken from
  std::optional<std::uint64_t> before; // sequence: older than
  std::optional<std::uint64_t> after;  // sequence: newer than
  std::optional<std::string> group;
  // Nothing: all; default_thread: those of no conversation; else those of one.
  bool default_thread = false;
  std::optional<conversation_id> conversation;
};
// Stored messages of one agent, oldest first.
std::vector<stored_message> history(const reader& r, const agent_id& agent, const history_query& q);
// The same over all agents of an organisation.
std::vector<stored_message> org_history(const reader& r, const org_id& org, const history_query& q);
// Messages between two places of the sequence, ends included, that belong to a run.
std::vector<stored_message> messages_of_run(const reader& r, const agent_id& agent, const run_id& run,
                                            std::uint64_t first, std::uint64_t last);

// Single messages: from a context (and from what a conversation lists), and for good. Whoever erases some unlinks them
// from every context first.
bool holds_any(const reader& r, const context_key& c, const std::vector<message_place>& messages);
void unlink_messages(transaction& t, const context_key& c, const std::vector<message_place>& messages);
void erase_messages(transaction& t, const std::vector<message_place>& messages);

void erase_history(transaction& t, const agent_id& agent, const org_id& org);

} // namespace troupe::storage
