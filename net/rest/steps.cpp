// /steps (reference: agent-loop §6.6)
#include "core/protocol/traced_reply.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/run_messages.hpp"
#include "storage/organizations.hpp"
#include "storage/runs.hpp"
#include "storage/traces.hpp"

namespace troupe::net::rest {

// In queries the words are a Literal of the original, in bodies an Enum: other errors.
enum class feedback_filter { positive, negative };
BOOST_DESCRIBE_ENUM(feedback_filter, positive, negative)

} // namespace troupe::net::rest

namespace troupe::json {
template <> inline constexpr bool is_literal<net::rest::feedback_filter> = true;
}

namespace troupe::net::rest {

namespace {

struct list_parameters {
  std::optional<timestamp> start_date, end_date;
  std::optional<std::string> model, agent_id, project_id;
  std::vector<std::string> trace_ids, tags;
  std::optional<feedback_filter> feedback;
  std::optional<bool> has_feedback;
};
BOOST_DESCRIBE_STRUCT(list_parameters, (),
                      (start_date, end_date, model, agent_id, project_id, trace_ids, tags, feedback,
                       has_feedback))

result<std::optional<step_id>> cursor(const storage::reader& r, const std::optional<std::string>& text) {
  if (!text) return std::optional<step_id>{};
  auto id = step_id::parse(*text);
  if (!id || !storage::find_step(r, *id)) return fail(errc::not_found, "No Step found with id " + *text);
  return id;
}

awaitable<outcome> list(call& c) {
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<list_parameters>(c);
  if (!p) co_return p.error();
  storage::step_query q;
  q.limit = page->items(50);
  q.order = page->order.value_or(sort_order::desc);
  q.start = p->start_date;
  q.end = p->end_date;
  q.model = p->model;
  if (p->agent_id) q.agent = agent_id::parse(*p->agent_id).value_or(agent_id{});
  q.project_id = p->project_id;
  q.trace_ids = p->trace_ids;
  q.tags = p->tags;
  q.has_feedback = p->has_feedback;
  if (p->feedback) q.feedback = std::string(json::enum_text(*p->feedback));
  auto list = [q, page = *page, org = c.by.org](const storage::reader& r) mutable -> result<std::string> {
    auto before = cursor(r, page.before);
    if (!before) return before.error();
    auto after = cursor(r, page.after);
    if (!after) return after.error();
    q.before = *before;
    q.after = *after;
    return json::to_text(storage::list_steps(r, org, q));
  };
  co_return co_await read_on_worker(c, std::move(list));
}

// Reads something of one step. `missing` says what is answered where there is no such step.
template <class F>
outcome read_step(call& c, F&& f, const std::function<result<std::string>(const step_id&)>& missing) {
  auto id = path_id<step_id>(c, "step_id");
  if (!id) return id.error();
  return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto s = storage::find_step(r, *id, c.by.org);
    if (!s) return missing(*id);
    return f(r, *s);
  });
}

awaitable<outcome> retrieve(call& c) {
  auto missing = [&](const step_id& id) -> result<std::string> {
    return storage::not_found_for("Step", id.str(), c.by);
  };
  co_return read_step(
      c, [](auto&, const step& s) -> result<std::string> { return json::to_text(s); }, missing);
}

awaitable<outcome> metrics(call& c) {
  auto missing = [&](const step_id& id) -> result<std::string> {
    return storage::not_found_for("StepMetrics", id.str(), c.by);
  };
  auto write = [](auto&, const step& s) -> result<std::string> {
    std::string out;
    step::write_metrics(out, s);
    return out;
  };
  co_return read_step(c, write, missing);
}

awaitable<outcome> messages(call& c) {
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  auto write = [&](const storage::reader& r, const step& s) -> result<std::string> {
    auto row = s.run ? storage::find_run(r, *s.run) : std::nullopt;
    if (!row) return "[]";
    auto cursors = message_window(r, *p, c.by.org);
    if (!cursors) return cursors.error();
    auto all = storage::messages_of_run(r, row->agent, row->id, row->first_sequence, row->last_sequence);
    std::erase_if(all, [&](auto& m) { return m->step != s.id; });
    project::options o;
    o.text_is_assistant_message = false;
    o.reverse = true;
    auto at = [&](auto& m) {
      auto place = storage::find_message_place(r, m->id);
      return place ? place->sequence : 0;
    };
    auto cut = cut_between(all, *cursors, p->exactly(100), p->order.value_or(sort_order::asc), at);
    if (!cut) return cut.error();
    return project::to_array(project::project_list(all, o), std::nullopt);
  };
  co_return read_step(c, write, [](auto&) -> result<std::string> { return "[]"; });
}

// The trace of a step; null where none is kept, or there is no such step. It may be among what the store writes later.
awaitable<outcome> answer_trace(call& c, step_id id) {
  co_await commit_the_rest(c);
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto trace = storage::find_trace(r, id, c.by.org);
    if (trace) trace->response = protocol::shown_reply(trace->response);
    return json::to_text(trace);
  });
}

awaitable<outcome> trace(call& c) {
  auto id = path_id<step_id>(c, "step_id");
  if (!id) co_return id.error();
  co_return co_await answer_trace(c, *id);
}

// As the first versions had it: what is no id has no trace.
awaitable<outcome> old_trace(call& c) {
  auto id = step_id::parse(c.path_value("step_id"));
  if (!id) co_return http::response::json("null");
  co_return co_await answer_trace(c, *id);
}

struct feedback_body {
  std::optional<feedback_kind> feedback;
  std::optional<std::vector<std::string>> tags;
};
BOOST_DESCRIBE_STRUCT(feedback_body, (), (feedback, tags))

// Without feedback it is taken back; tags stay unless there are others.
awaitable<outcome> feedback(call& c) {
  auto id = path_id<step_id>(c, "step_id");
  if (!id) co_return id.error();
  auto body = body_of<feedback_body>(c);
  if (!body) co_return body.error();
  auto store = [id = *id, change = *body, by = c.by](storage::transaction& t) -> result<std::string> {
    auto s = storage::find_step(t, id, by.org);
    if (!s) return storage::not_found_for("Step", id.str(), by);
    s->feedback = change.feedback;
    if (change.tags && !change.tags->empty()) s->tags = *change.tags;
    storage::put_step(t, *s);
    return json::to_text(*s);
  };
  co_return co_await write(c, "step.feedback", std::move(store));
}

// The name of a transaction that the caller counts the step to.
awaitable<outcome> set_transaction(call& c) {
  auto id = path_id<step_id>(c, "step_id");
  if (!id) co_return id.error();
  std::string tid(c.path_value("transaction_id"));
  auto store = [id = *id, tid, by = c.by](storage::transaction& t) -> result<std::string> {
    auto s = storage::find_step(t, id, by.org);
    if (!s) return storage::not_found_for("Step", id.str(), by);
    s->tid = tid;
    storage::put_step(t, *s);
    return json::to_text(*s);
  };
  co_return co_await write(c, "step.transaction", std::move(store));
}

} // namespace

result<window<std::uint64_t>> message_window(const storage::reader& r, const page_parameters& page,
                                             const org_id& org) {
  window<std::uint64_t> out;
  for (auto [text, place] : {std::pair(&page.before, &out.before), std::pair(&page.after, &out.after)}) {
    if (!filled(*text)) continue;
    auto at = sequence_of(r, *text, org);
    if (!at) return fail(errc::not_found, "No Message found with id " + **text);
    *place = *at;
  }
  return out;
}

void add_steps(router& r) {
  r.add("GET", "/steps/", list);
  r.add("GET", "/steps/{step_id}", retrieve);
  r.add("GET", "/steps/{step_id}/metrics", metrics);
  r.add("GET", "/steps/{step_id}/trace", trace);
  r.add("GET", "/telemetry/{step_id}", old_trace);
  r.add("GET", "/steps/{step_id}/messages", messages);
  r.add("PATCH", "/steps/{step_id}/feedback", feedback);
  r.add("PATCH", "/steps/{step_id}/transaction/{transaction_id}", set_transaction);
}

} // namespace troupe::net::rest
