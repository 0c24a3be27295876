#include "net/rest/run_streaming.hpp"

#include "core/turn/stored_stream.hpp"
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/runs.hpp"
#include "net/rest/threads.hpp"
#include "storage/agents.hpp"
#include "storage/organizations.hpp"
#include "storage/requests.hpp"
#include "storage/run_messages.hpp"
#include "storage/runs.hpp"

#include <boost/asio/steady_timer.hpp>

#include <charconv>

namespace troupe::net::rest {

void restore_log(const services& s, const run& row, bool pings) {
  auto snapshot = s.db->snapshot();
  auto a = storage::find_agent(*snapshot, row.agent);
  if (!a) return;
  auto steps = storage::steps_of(*snapshot, row);
  auto shown = storage::shown_messages(*snapshot, row);
  std::vector<actors::stream_frame> frames;
  for (auto& f : turn::frames_of({row, a->type, steps, shown}, pings, *s.env))
    frames.push_back({std::move(f.data), f.is_error});
  s.streams->restore(row.id, std::move(frames), is_terminal(row.status));
}

http::response events_of(const call& c, const run_id& run, reading how) {
  if (!c.s.streams->knows(run))
    if (auto row = storage::find_run(*c.s.db->snapshot(), run, c.by.org);
        row && row->background && is_terminal(row->status))
      restore_log(c.s, *row, true);
  http::response r;
  r.content_type = "text/event-stream; charset=utf-8";
  r.events = c.s.streams->attach(run, how.after, how.pings);
  return r;
}

namespace {

struct stream_parameters {
  std::int64_t starting_after = 0;
  std::optional<bool> include_pings = true;
  std::optional<double> poll_interval; // nobody polls here
  std::optional<std::int64_t> batch_size;
};
BOOST_DESCRIBE_STRUCT(stream_parameters, (), (starting_after, include_pings, poll_interval, batch_size))

// What browsers send when they connect again counts where the request itself says nothing.
reading reading_of(const call& c, std::int64_t after, const std::optional<bool>& pings) {
  auto last = c.request.header("last-event-id");
  if (after == 0) std::from_chars(last.data(), last.data() + last.size(), after);
  return {static_cast<std::uint64_t>(std::max<std::int64_t>(0, after)), pings.value_or(true)};
}

outcome resume(const call& c, const run& row, reading how) {
  if (!row.background)
    return invalid_argument("Run was not created in background mode, so it cannot be retrieved.");
  auto kept = std::chrono::microseconds(storage::request_memory).count();
  if (c.s.env->now().us - row.created_at.us > kept)
    return error{errc::gone, "EXPIRED: Run was created more than 3 hours ago, and is now expired.", {}};
  return events_of(c, row.id, how);
}

outcome resume_run(const call& c, std::string_view text, reading how) {
  auto id = id_named<run_id>(text);
  if (!id) return id.error();
  auto row = storage::find_run(*c.s.db->snapshot(), *id, c.by.org);
  if (!row) return storage::not_found_for("Run", id->str(), c.by);
  return resume(c, *row, how);
}

awaitable<outcome> of_run(call& c) {
  auto p = optional_body_of<stream_parameters>(c);
  if (!p) co_return p.error();
  co_return resume_run(c, c.path_value("run_id"), reading_of(c, p->starting_after, p->include_pings));
}

awaitable<outcome> of_run_by_query(call& c) {
  auto p = query_of<stream_parameters>(c);
  if (!p) co_return p.error();
  co_return resume_run(c, c.path_value("run_id"), reading_of(c, p->starting_after, p->include_pings));
}

// -- by conversation ------------------------------------------------------------------------------
struct conversation_body {
  std::optional<std::string> agent_id, run_id, otid;
  std::int64_t starting_after = 0;
  std::optional<bool> include_pings = true;
  std::optional<double> poll_interval;
  std::optional<std::int64_t> batch_size;
};
BOOST_DESCRIBE_STRUCT(conversation_body, (),
                      (agent_id, run_id, otid, starting_after, include_pings, poll_interval, batch_size))

// The request may be on its way still.
awaitable<std::optional<run>> wait_for_request(const call& c, const std::string& otid) {
  asio::steady_timer pause(c.s.streams->io());
  for (int ms : {250, 500, 1000, 0}) {
    auto row = storage::run_of_otid(*c.s.db->snapshot(), c.by.org, otid, c.s.env->now());
    if (row || ms == 0) co_return row;
    pause.expires_after(std::chrono::milliseconds(ms));
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return std::nullopt;
}

// The newest that goes on: of a conversation, or of any thread of an agent.
std::optional<run> active_run(const call& c, const thread_name& name, const conversation_body& b) {
  storage::run_query q;
  q.statuses = {run_status::created, run_status::running};
  q.conversation = name.conversation;
  q.limit = 1;
  auto agent = name.is_default ? agent_id::parse(b.agent_id.value_or("")) : name.agent;
  if (!agent && !name.conversation) return std::nullopt;
  if (agent) q.agents.push_back(*agent);
  auto rows = storage::list_runs(*c.s.db->snapshot(), c.by.org, q);
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}

awaitable<outcome> of_conversation(call& c) {
  auto name = thread_of_path(c);
  if (!name) co_return name.error();
  auto b = optional_body_of<conversation_body>(c);
  if (!b) co_return b.error();
  auto how = reading_of(c, b->starting_after, b->include_pings);
  if (auto text = filled(b->run_id)) co_return resume_run(c, *text, how);
  if (auto otid = filled(b->otid)) {
    auto row = co_await wait_for_request(c, *otid);
    if (!row)
      co_return fail(errc::not_found,
                     "No run found for otid=" + *otid + ". The run may have expired or never existed.");
    co_return resume(c, *row, how);
  }
  auto row = active_run(c, *name, *b);
  if (!row) co_return invalid_argument("No active runs found for this conversation.");
  co_return resume(c, *row, how);
}

} // namespace

void add_run_streaming(router& r) {
  r.add("POST", "/runs/{run_id}/stream", of_run);
  r.add("GET", "/runs/{run_id}/stream", of_run_by_query);
  r.add("POST", "/conversations/{conversation_id}/stream", of_conversation);
}

} // namespace troupe::net::rest
