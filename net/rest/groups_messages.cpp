// /groups/{id}/messages: listing and reset (reference: groups §2.0)
#include "net/rest/groups_log.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/run_messages.hpp"
#include "storage/agents.hpp"
#include "storage/group_runs.hpp"
#include "storage/groups.hpp"
#include "storage/organizations.hpp"

namespace troupe::net::rest {

namespace {

// Rows of the members, or each utterance once (D11).
enum class group_view { rows, conversation };
BOOST_DESCRIBE_ENUM(group_view, rows, conversation)

struct list_parameters {
  bool use_assistant_message = true;
  std::string assistant_message_tool_name = "send_message";
  std::string assistant_message_tool_kwarg = "message";
  std::optional<std::vector<message_type>> include_return_message_types;
  std::optional<group_view> view;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (),
                      (use_assistant_message, assistant_message_tool_name, assistant_message_tool_kwarg,
                       include_return_message_types, view))

using places = std::vector<storage::message_place>;

// The manager's messages: from the end that the order names, oldest first all the same.
result<void> cut_of_manager(const storage::reader& r, places& all, const page_parameters& page,
                            const agent_id& manager, const org_id& org) {
  auto before = sequence_of(r, page.before, org, manager);
  if (!before) return before.error();
  auto after = sequence_of(r, page.after, org, manager);
  if (!after) return after.error();
  cut_window(all, *before, *after, page.exactly(10), page.order.value_or(sort_order::desc));
  return {};
}

// Without a manager the oldest come first, whatever the order.
result<void> cut_of_members(const storage::reader& r, places& all, const page_parameters& page,
                            const org_id& org) {
  auto w = message_window(r, page, org);
  if (!w) return w.error();
  return cut_between(all, *w, page.exactly(10), sort_order::asc, [](auto& m) { return m.sequence; });
}

awaitable<outcome> list(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto list = [id = *id, page = *page, p = *p, by = c.by](const storage::reader& r) -> result<std::string> {
    auto g = storage::find_group(r, id, by.org);
    if (!g) return storage::not_found_for("Group", id.str(), by);
    if (p.view == group_view::conversation) return conversation_text(r, *g, page);
    auto shown = storage::group_messages(r, *g, false);
    auto cut = g->manager_agent_id ? cut_of_manager(r, shown, page, *g->manager_agent_id, by.org)
                                   : cut_of_members(r, shown, page, by.org);
    if (!cut) return cut.error();
    project::options o;
    o.use_assistant_message = p.use_assistant_message;
    o.assistant_message_tool_name = p.assistant_message_tool_name;
    o.assistant_message_tool_kwarg = p.assistant_message_tool_kwarg;
    std::vector<storage::stored_message> messages;
    messages.reserve(shown.size());
    for (auto& at : shown) messages.push_back(storage::load_message(r, at));
    return project::to_array(project::project_list(messages, o), p.include_return_message_types);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> modify(call& c) { co_return co_await refuse_editing<group_id>(c, "group_id"); }

// -- reset ----------------------------------------------------------------------------------------
// For good: out of each context between two of its turns, then out of the store. What is said meanwhile stays.
awaitable<outcome> reset(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  std::vector<storage::message_place> messages;
  std::vector<storage::context_key> contexts;
  {
    auto r = c.s.db->snapshot();
    auto g = storage::find_group(*r, *id, c.by.org);
    if (!g) co_return storage::not_found_for("Group", id->str(), c.by);
    messages = storage::group_messages(*r, *g, true);
    contexts = storage::contexts_of(*r, messages);
  }
  for (auto& context : contexts) {
    auto unlink = [context, messages](storage::transaction& t) -> result<std::string> {
      storage::unlink_messages(t, context, messages);
      return "null";
    };
    auto done = co_await write_between_turns(c, context.owner(), "group.unlink", std::move(unlink));
    if (!done) co_return done.error();
  }
  auto forget = [messages, id = *id](storage::transaction& t) -> result<std::string> {
    storage::erase_group_messages(t, messages);
    storage::erase_group_log(t, id);
    return "null";
  };
  co_return co_await write_between_turns(c, id->value, "group.reset", std::move(forget));
}

} // namespace

void add_group_messages(router& r) {
  r.add("GET", "/groups/{group_id}/messages", list);
  r.add("PATCH", "/groups/{group_id}/messages/{message_id}", modify);
  r.add("PATCH", "/groups/{group_id}/reset-messages", reset);
}

} // namespace troupe::net::rest
