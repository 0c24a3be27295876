// /agents/{id}/tools (reference: resources §2.14)
#include "net/rest/agent_parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/organizations.hpp"
#include "storage/tools.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

error agent_not_found() { return fail(errc::not_found, "Agent not found"); }

awaitable<outcome> list(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto a = storage::find_agent(r, *id, c.by.org);
    if (!a) return agent_not_found();
    auto tools = storage::tools_of(r, *a);
    cut_page(tools, *p, 10, sort_order::desc);
    return json::to_text(tools);
  });
}

// What attach and detach answer: nothing, or the agent for older callers.
std::string changed(const storage::reader& r, const agent& a, bool new_sdk) {
  return new_sdk ? "null" : storage::agent_state(r, a, agent_relations::all());
}

void set_approval(agent& a, const std::string& tool_name, bool wanted) {
  auto rule = make_rule(tool_rule_type::requires_approval, tool_name);
  auto is_it = [&](auto& r) { return r.type == rule.type && r.tool_name == tool_name; };
  if (!wanted)
    std::erase_if(a.tool_rules, is_it);
  else if (std::none_of(a.tool_rules.begin(), a.tool_rules.end(), is_it))
    a.tool_rules.push_back(std::move(rule));
}

awaitable<outcome> attach(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto wanted = path_id<tool_id>(c, "tool_id");
  if (!wanted) co_return wanted.error();
  auto store = [id = *id, wanted = *wanted, by = c.by,
                sdk = c.new_sdk](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return agent_not_found();
    auto row = storage::find_tool(t, wanted, by.org);
    if (!row)
      return fail(errc::not_found,
                  "Tool with id=" + wanted.str() + " not found in organization=" + by.org.str());
    auto before = *a;
    if (std::find(a->tool_ids.begin(), a->tool_ids.end(), wanted) == a->tool_ids.end())
      a->tool_ids.push_back(wanted);
    if (row->default_requires_approval.value_or(false)) set_approval(*a, row->name, true);
    storage::put_agent(t, *a, &before);
    return changed(t, *a, sdk);
  };
  co_return co_await write(c, "agent.attach_tool", std::move(store));
}

awaitable<outcome> detach(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto wanted = path_id<tool_id>(c, "tool_id");
  if (!wanted) co_return wanted.error();
  auto store = [id = *id, wanted = *wanted, by = c.by,
                sdk = c.new_sdk](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return agent_not_found();
    auto before = *a;
    if (std::erase(a->tool_ids, wanted) > 0) storage::put_agent(t, *a, &before);
    return changed(t, *a, sdk);
  };
  co_return co_await write(c, "agent.detach_tool", std::move(store));
}

struct approval_parameters {
  std::optional<bool> requires_approval;
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(approval_parameters, (), (requires_approval))

struct approval_body {
  bool requires_approval = false;
  static constexpr std::string_view required[] = {"requires_approval"};
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(approval_body, (), (requires_approval))

// What the TypeScript SDK calls it.
struct sdk_approval_body {
  bool body_requires_approval = false;
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(sdk_approval_body, (), (body_requires_approval))

// What the body says, where there is one.
result<std::optional<bool>> approval_of_body(call& c) {
  if (c.request.body.empty() || c.request.body == "null") return std::optional<bool>{};
  auto document = body_document(c);
  if (!document) return document.error();
  if (json::find(*document, "body_requires_approval")) {
    auto body = json::read_as<sdk_approval_body>(*document);
    if (!body) return body.error();
    return std::optional(body->body_requires_approval);
  }
  auto body = json::read_as<approval_body>(*document);
  if (!body) return body.error();
  return std::optional(body->requires_approval);
}

awaitable<outcome> approval(call& c) {
  auto id = path_id<agent_id>(c, "agent_id");
  if (!id) co_return id.error();
  auto wanted = approval_of_body(c);
  if (!wanted) co_return wanted.error();
  auto query = query_of<approval_parameters>(c);
  if (!query) co_return query.error();
  if (!*wanted) *wanted = query->requires_approval;
  if (!*wanted)
    co_return fail(errc::unprocessable,
                   "requires_approval must be provided either in request body or as query parameter");
  auto store = [id = *id, wanted = **wanted, name = std::string(c.path_value("tool_name")), by = c.by,
                sdk = c.new_sdk](storage::transaction& t) -> result<std::string> {
    auto a = storage::find_agent(t, id, by.org);
    if (!a) return storage::not_found_for("Agent", id.str(), by);
    auto before = *a;
    set_approval(*a, name, wanted);
    storage::put_agent(t, *a, &before);
    return changed(t, *a, sdk);
  };
  co_return co_await write(c, "agent.tool_approval", std::move(store));
}

} // namespace

void add_agent_tools(router& r) {
  r.add("GET", "/agents/{agent_id}/tools", list);
  r.add("PATCH", "/agents/{agent_id}/tools/attach/{tool_id}", attach);
  r.add("PATCH", "/agents/{agent_id}/tools/detach/{tool_id}", detach);
  r.add("PATCH", "/agents/{agent_id}/tools/approval/{tool_name}", approval);
}

} // namespace troupe::net::rest
