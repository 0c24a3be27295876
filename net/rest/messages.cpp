// /messages: over all agents of an organisation (reference: agent-loop §10.2)
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

namespace {

struct list_parameters {
  std::optional<std::string> conversation_id;
  std::optional<std::vector<message_type>> include_return_message_types;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (), (conversation_id, include_return_message_types))

awaitable<outcome> list(call& c) {
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  auto list = [page = *page, p = *p, org = c.by.org](const storage::reader& r) -> result<std::string> {
    auto q = window_of(r, page, org);
    if (!q) return q.error();
    narrow(*q, p.conversation_id);
    return project::to_array(project::project_list(storage::org_history(r, org, *q), {}),
                             p.include_return_message_types);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> retrieve(call& c) {
  auto id = path_id<message_id>(c, "message_id");
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto m = storage::find_message(r, *id);
    if (!m || m->organization_id != c.by.org)
      return fail(errc::not_found, "Message with id " + id->str() + " not found.");
    project::options o;
    o.use_assistant_message = false;
    o.text_is_assistant_message = false;
    o.reverse = true;
    std::vector<project::api_message> shown;
    project::project(shown, *m, o);
    return project::to_array(shown, std::nullopt);
  });
}

} // namespace

void add_messages(router& r) {
  r.add("GET", "/messages/", list);
  r.add("GET", "/messages/{message_id}", retrieve);
}

} // namespace troupe::net::rest
