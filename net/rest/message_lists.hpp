// What the lists of messages have in common (reference: agent-loop §10).
#pragma once

#include "net/rest/parameters.hpp"
#include "storage/messages.hpp"

namespace troupe::net::rest {

// The place of a cursor in the global sequence. Errors: not_found, for ids that nobody has, in the words of the list of
// this agent.
result<std::optional<std::uint64_t>> sequence_of(const storage::reader& r,
                                                 const std::optional<std::string>& cursor, const org_id& org,
                                                 const std::optional<agent_id>& agent = std::nullopt);

// The window that a page of a history asks for; which end of it `order` says. Errors: not_found, for its cursors.
result<storage::history_query> window_of(const storage::reader& r, const page_parameters& page,
                                         const org_id& org,
                                         const std::optional<agent_id>& agent = std::nullopt);
// Only messages of this thread: a conversation's id, or `default`.
void narrow(storage::history_query& q, const std::optional<std::string>& conversation);

// The body of such a PATCH: something that a message has. Errors: invalid_body.
result<void> check_edit(call& c);

// PATCH of a message, whoever's it is: checks both ids and the body, and refuses. Errors: invalid_body,
// method_not_allowed.
template <class Owner> awaitable<outcome> refuse_editing(call& c, std::string_view owner) {
  if (auto id = path_id<Owner>(c, owner); !id) co_return id.error();
  if (auto id = path_id<message_id>(c, "message_id"); !id) co_return id.error();
  if (auto edit = check_edit(c); !edit) co_return edit.error();
  co_return fail(errc::method_not_allowed,
                 "Message editing is no longer supported. Messages are immutable as they may be shared "
                 "across multiple conversations via forking.");
}

// How the texts of an agent's assistant messages are to be read.
bool shows_text(const storage::reader& r, const agent_id& agent);

// Cuts what has sequences to the window that a page asks for: from the end that the order names, oldest first still.
template <class T>
void cut_window(std::vector<T>& all, const std::optional<std::uint64_t>& before,
                const std::optional<std::uint64_t>& after, std::size_t limit, sort_order order) {
  std::erase_if(
      all, [&](auto& m) { return (before && m.sequence >= *before) || (after && m.sequence <= *after); });
  if (all.size() <= limit) return;
  auto extra = static_cast<std::ptrdiff_t>(all.size() - limit);
  if (order == sort_order::desc)
    all.erase(all.begin(), all.begin() + extra);
  else
    all.erase(all.end() - extra, all.end());
}

// Of messages in order, oldest first: those between the cursors, `limit` of them from the end that the order begins at.
// Newest first where the order is desc.
std::vector<storage::stored_message> cut_messages(const storage::reader& r,
                                                  std::vector<storage::stored_message> all,
                                                  std::optional<std::uint64_t> before,
                                                  std::optional<std::uint64_t> after, std::size_t limit,
                                                  sort_order order);

} // namespace troupe::net::rest
