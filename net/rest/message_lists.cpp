#include "net/rest/message_lists.hpp"

#include "storage/agents.hpp"

namespace troupe::net::rest {

result<std::optional<std::uint64_t>> sequence_of(const storage::reader& r,
                                                 const std::optional<std::string>& cursor, const org_id& org,
                                                 const std::optional<agent_id>& agent) {
  if (!filled(cursor)) return std::optional<std::uint64_t>{};
  auto id = message_id::parse(*cursor);
  auto at = id ? storage::find_message_place(r, *id) : std::nullopt;
  if (!at || !storage::find_agent(r, at->agent, org))
    return fail(errc::not_found, "No message found with id '" + *cursor + "' for agent '" +
                                     (agent ? agent->str() : "None") + "'.");
  return std::optional(at->sequence);
}

result<storage::history_query> window_of(const storage::reader& r, const page_parameters& page,
                                         const org_id& org, const std::optional<agent_id>& agent) {
  storage::history_query q;
  q.limit = page.limit && page.limit->value == 0 ? 0 : page.items(100);
  q.newest_first = page.order.value_or(sort_order::desc) == sort_order::desc;
  auto before = sequence_of(r, page.before, org, agent);
  if (!before) return before.error();
  auto after = sequence_of(r, page.after, org, agent);
  if (!after) return after.error();
  q.before = *before;
  q.after = *after;
  return q;
}

void narrow(storage::history_query& q, const std::optional<std::string>& conversation) {
  q.default_thread = conversation == "default";
  if (conversation && !q.default_thread)
    q.conversation = conversation_id::parse(*conversation).value_or(conversation_id{});
}

result<void> check_edit(call& c) {
  auto document = body_document(c);
  if (!document) return document.error();
  if (json::find(*document, "content") || json::find(*document, "reasoning")) return {};
  json::reader r("body");
  for (auto [model, member] : {std::pair("UpdateSystemMessage", "content"),
                               {"UpdateUserMessage", "content"},
                               {"UpdateReasoningMessage", "reasoning"},
                               {"UpdateAssistantMessage", "content"}}) {
    json::reader::scope kind(r, model);
    json::reader::scope at(r, member);
    r.fail("missing", "Field required", *document);
  }
  return json::to_error(r.errors());
}

bool shows_text(const storage::reader& r, const agent_id& agent) {
  auto a = storage::find_agent(r, agent);
  return a && a->type == agent_type::letta_v1_agent;
}

std::vector<storage::stored_message> cut_messages(const storage::reader& r,
                                                  std::vector<storage::stored_message> all,
                                                  std::optional<std::uint64_t> before,
                                                  std::optional<std::uint64_t> after, std::size_t limit,
                                                  sort_order order) {
  if (before || after)
    std::erase_if(all, [&](auto& m) {
      auto at = storage::find_message_place(r, m->id);
      return !at || (before && at->sequence >= *before) || (after && at->sequence <= *after);
    });
  if (order == sort_order::desc) std::reverse(all.begin(), all.end());
  if (all.size() > limit) all.resize(limit);
  return all;
}

} // namespace troupe::net::rest
