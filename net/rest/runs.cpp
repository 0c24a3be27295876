// /runs (reference: agent-loop §6)
#include "storage/runs.hpp"

#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/run_messages.hpp"
#include "net/rest/runs.hpp"
#include "storage/organizations.hpp"
#include "storage/run_messages.hpp"

#include <algorithm>

namespace troupe::net::rest {

result<storage::run_query> run_query_for(const run_list_parameters& p) {
  storage::run_query q;
  q.limit = static_cast<std::size_t>(p.limit.value_or(bounded<1, 1000>{100}).value);
  q.order = p.order.value_or(sort_order::desc);
  if (p.ascending.value_or(false)) q.order = sort_order::asc;
  q.before = run_id::parse(p.before.value_or(""));
  q.after = run_id::parse(p.after.value_or(""));
  q.background = p.background;
  q.reason = p.stop_reason;
  if (p.conversation_id)
    q.conversation = conversation_id::parse(*p.conversation_id).value_or(conversation_id{});
  for (auto& text : p.statuses) {
    auto status = json::enum_from<run_status>(text);
    if (!status) return fail(errc::invalid_argument, "'" + text + "' is not a valid RunStatus");
    q.statuses.push_back(*status);
  }
  if (p.active && p.statuses.empty()) q.statuses = {run_status::created, run_status::running};
  auto ids = p.agent_ids;
  if (auto id = filled(p.agent_id)) ids = {*id};
  for (auto& text : ids)
    q.agents.push_back(agent_id::parse(text).value_or(agent_id{})); // what is no id is nobody's
  return q;
}

std::string run_list_text(const std::vector<run>& rows) {
  return json::list_text(rows, [](auto& out, auto& row) { run::write_api(out, row, true); });
}

namespace {

// The run's id in the path.
result<run_id> run_of_path(const call& c) { return id_named<run_id>(c.path_value("run_id")); }

error no_run(const call& c, const run_id& id, std::string_view kind = "Run") {
  return storage::not_found_for(kind, id.str(), c.by);
}

// -- lists ----------------------------------------------------------------------------------------
struct public_parameters : run_list_parameters {
  only_created_at order_by = only_created_at::created_at;
};
BOOST_DESCRIBE_STRUCT(public_parameters, (run_list_parameters), (order_by))

awaitable<outcome> answer_list(call& c, storage::run_query q) {
  auto list = [q = std::move(q), org = c.by.org](const storage::reader& r) -> result<std::string> {
    return run_list_text(storage::list_runs(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> list(call& c) {
  auto p = query_of<public_parameters>(c);
  if (!p) co_return p.error();
  auto q = run_query_for(*p);
  if (!q) co_return q.error();
  co_return co_await answer_list(c, std::move(*q));
}

struct active_parameters {
  std::optional<std::string> agent_id;
  std::optional<bool> background;
};
BOOST_DESCRIBE_STRUCT(active_parameters, (), (agent_id, background))

awaitable<outcome> list_active(call& c) {
  auto given = query_of<active_parameters>(c);
  if (!given) co_return given.error();
  run_list_parameters p;
  p.agent_id = given->agent_id;
  p.background = given->background;
  p.active = true;
  auto q = run_query_for(p);
  if (!q) co_return q.error();
  co_return co_await answer_list(c, std::move(*q));
}

// -- one run --------------------------------------------------------------------------------------
// Reads something of one run.
template <class F> outcome read_run(call& c, F&& f, std::string_view kind = "Run") {
  auto id = run_of_path(c);
  if (!id) return id.error();
  return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto row = storage::find_run(r, *id, c.by.org);
    if (!row) return no_run(c, *id, kind);
    return f(r, *row);
  });
}

awaitable<outcome> retrieve(call& c) {
  co_return read_run(c, [](auto&, const run& row) -> result<std::string> {
    std::string out;
    run::write_api(out, row, false);
    return out;
  });
}

awaitable<outcome> metrics(call& c) {
  auto write = [](auto&, const run& row) -> result<std::string> {
    std::string out;
    run::write_metrics(out, row);
    return out;
  };
  co_return read_run(c, write, "RunMetrics");
}

awaitable<outcome> usage(call& c) {
  co_return read_run(c, [](const storage::reader& r, const run& row) -> result<std::string> {
    auto sum = sum_of(storage::steps_of(r, row));
    std::string out;
    json::object_writer(out)
        .add("completion_tokens", sum.completion_tokens)
        .add("prompt_tokens", sum.prompt_tokens)
        .add("total_tokens", sum.total_tokens)
        .null("prompt_tokens_details")
        .null("completion_tokens_details");
    return out;
  });
}

// Of a group's run: the turns of its members, in their order.
std::string group_messages_text(const storage::reader& r, const run& row, const page_parameters& p) {
  auto all = storage::shown_messages(r, row);
  auto is = [](const std::optional<std::string>& id) { return [&](auto& m) { return m.id.str() == id; }; };
  if (p.after) {
    auto it = std::find_if(all.rbegin(), all.rend(), is(p.after));
    all.erase(all.begin(), it.base());
  }
  if (p.before) all.erase(std::find_if(all.begin(), all.end(), is(p.before)), all.end());
  if (p.order.value_or(sort_order::asc) == sort_order::desc) std::reverse(all.begin(), all.end());
  if (all.size() > p.exactly(100)) all.resize(p.exactly(100));
  auto config = row.request_config.value_or(run_request_config{});
  return project::to_array(all, config.include_return_message_types);
}

// The types of message that the run was asked to show; nothing: all.
std::optional<std::vector<message_type>> shown_types(const run& row) {
  auto types = row.request_config ? row.request_config->include_return_message_types : std::nullopt;
  if (types && types->empty()) types.reset();
  return types;
}

awaitable<outcome> messages(call& c) {
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  co_return read_run(c, [&](const storage::reader& r, const run& row) -> result<std::string> {
    auto before = sequence_of(r, p->before, c.by.org);
    if (!before) return before.error();
    auto after = sequence_of(r, p->after, c.by.org);
    if (!after) return after.error();
    auto order = p->order.value_or(sort_order::asc);
    if (row.group) return group_messages_text(r, row, *p);
    auto all = storage::messages_of_run(r, row.agent, row.id, row.first_sequence, row.last_sequence);
    auto cut = cut_messages(r, std::move(all), *before, *after, p->exactly(100), order);
    // What the run was told of assistant messages is for its own answer, not for this list.
    project::options o;
    o.text_is_assistant_message = shows_text(r, row.agent);
    o.reverse = order == sort_order::desc;
    return project::to_array(project::project_list(cut, o), shown_types(row));
  });
}

// -- its steps ------------------------------------------------------------------------------------
using step_place = std::pair<timestamp, step_id>;
step_place place_of(const step& s) { return {s.created_at, s.id}; }

// Cursors may be steps of any run. Errors: not_found.
result<std::optional<step_place>> place_named(const storage::reader& r,
                                              const std::optional<std::string>& cursor) {
  if (!filled(cursor)) return std::optional<step_place>{};
  auto id = step_id::parse(*cursor);
  auto s = id ? storage::find_step(r, *id) : std::nullopt;
  if (!s) return fail(errc::not_found, "No Step found with id " + *cursor);
  return std::optional(place_of(*s));
}

awaitable<outcome> steps(call& c) {
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  co_return read_run(c, [&](const storage::reader& r, const run& row) -> result<std::string> {
    auto before = place_named(r, p->before);
    if (!before) return before.error();
    auto after = place_named(r, p->after);
    if (!after) return after.error();
    auto all = storage::steps_of(r, row);
    window<step_place> w{*before, *after};
    auto cut = cut_between(all, w, p->exactly(100), p->order.value_or(sort_order::desc), place_of);
    if (!cut) return cut.error();
    return json::to_text(all);
  });
}

struct trace_parameters {
  std::optional<bounded<1, 5000>> limit;
};
BOOST_DESCRIBE_STRUCT(trace_parameters, (), (limit))

awaitable<outcome> trace(call& c) {
  if (auto p = query_of<trace_parameters>(c); !p) co_return p.error();
  co_return fail(
      errc::not_implemented,
      "OTEL traces require ClickHouse. Set LETTA_CLICKHOUSE_ENDPOINT and configure ClickHouse connection.");
}

awaitable<outcome> erase(call& c) {
  auto id = run_of_path(c);
  if (!id) co_return id.error();
  auto missing = no_run(c, *id);
  auto store = [id = *id, by = c.by, missing](storage::transaction& t) -> result<std::string> {
    auto row = storage::find_run(t, id, by.org);
    if (!row) return missing;
    if (!is_terminal(row->status))
      return fail(errc::conflict, "CONFLICT: Run " + id.str() + " has not ended; cancel it first");
    storage::erase_run(t, *row);
    return "null";
  };
  co_return co_await write(c, "run.delete", std::move(store));
}

} // namespace

std::string messages_text(const storage::reader& r, const run& row,
                          const std::vector<project::stored_message>& messages, sort_order order) {
  project::options o;
  auto config = row.request_config.value_or(run_request_config{});
  o.use_assistant_message = config.use_assistant_message;
  o.assistant_message_tool_name = config.assistant_message_tool_name;
  o.assistant_message_tool_kwarg = config.assistant_message_tool_kwarg;
  o.text_is_assistant_message = shows_text(r, row.agent);
  o.reverse = order == sort_order::desc;
  return project::to_array(project::project_list(messages, o), shown_types(row));
}

void add_runs(router& r) {
  r.add("GET", "/runs/", list);
  r.add("GET", "/runs/active", list_active);
  r.add("GET", "/runs/{run_id}", retrieve);
  r.add("DELETE", "/runs/{run_id}", erase);
  r.add("GET", "/runs/{run_id}/messages", messages);
  r.add("GET", "/runs/{run_id}/steps", steps);
  r.add("GET", "/runs/{run_id}/usage", usage);
  r.add("GET", "/runs/{run_id}/metrics", metrics);
  r.add("GET", "/runs/{run_id}/trace", trace);
}

} // namespace troupe::net::rest
