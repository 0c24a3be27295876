#include "net/rest/callbacks.hpp"

#include "core/json/writer.hpp"
#include "core/project/messages.hpp"
#include "net/rest/run_messages.hpp"
#include "storage/jobs.hpp"
#include "storage/pending.hpp"
#include "storage/run_messages.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace troupe::net::rest {

namespace {

std::string result_text(const storage::reader& r, const run& row) {
  return json::object_text([&](json::object_writer& w) {
    auto own = storage::messages_of_run(r, row.agent, row.id, row.first_sequence, row.last_sequence);
    w.raw("messages", row.group ? project::to_array(storage::shown_messages(r, row), std::nullopt)
                                : messages_text(r, row, own, sort_order::asc));
    json::object_writer(w.key("stop_reason"))
        .add("message_type", "stop_reason")
        .add("stop_reason", row.stop_reason_.value_or(stop_reason::end_turn));
    w.add("usage", sum_of(storage::steps_of(r, row))).null("logprobs").null("turns");
  });
}

std::string callback_body(const storage::reader& r, const run& row) {
  return json::object_text([&](json::object_writer& w) {
    w.add("run_id", row.id).add("status", row.status).add("completed_at", row.completed_at);
    json::object_writer metadata(w.key("metadata"));
    for (auto& [name, v] : row.metadata) metadata.add(std::string(name).c_str(), v);
    if (row.status == run_status::completed) metadata.raw("result", result_text(r, row));
  });
}

std::string callback_body(const job& row) {
  return json::object_text([&](json::object_writer& w) {
    w.add("job_id", row.id).add("status", row.status).add("completed_at", row.completed_at);
    w.add("metadata", row.metadata);
  });
}

struct letter {
  std::string to, body;
  std::string about; // as failures name it
};

// Nothing where what ended is gone, or its client was called.
std::optional<letter> letter_of(const storage::reader& r, const storage::due_callback& c) {
  auto write = [](const auto& row, const char* what, auto body) -> std::optional<letter> {
    if (!row || !row->callback_url || row->callback_sent_at) return std::nullopt;
    return letter{*row->callback_url, body(*row), what + row->id.str()};
  };
  if (!storage::is_due(r, c)) return std::nullopt;
  if (c.is_job)
    return write(storage::find_job(r, job_id{c.id}), "job ", [](auto& row) { return callback_body(row); });
  return write(storage::find_run(r, run_id{c.id}), "run ", [&](auto& row) { return callback_body(r, row); });
}

struct delivery {
  std::optional<std::int64_t> status;
  std::optional<std::string> failure;
};

// An exception of Python's HTTP client: a run has it with its type, a job only what it says.
std::string failure_text(const letter& l, bool of_job, const std::string& type, const std::string& message) {
  auto quoted = message.find('\'') == std::string::npos ? "'" + message + "'" : '"' + message + '"';
  return "Failed to dispatch callback for " + l.about + " to " + l.to + ": " +
         (of_job ? message : type + "(" + quoted + ")");
}

awaitable<delivery> post(services& s, letter l, bool of_job) {
  delivery out;
  if (!l.to.starts_with("http://") && !l.to.starts_with("https://")) {
    out.failure = failure_text(l, of_job, "UnsupportedProtocol",
                               "Request URL is missing an 'http://' or 'https://' protocol.");
    co_return out;
  }
  client_request q;
  q.url = l.to;
  q.headers = {"Content-Type: application/json"};
  q.body = std::make_shared<const std::string>(std::move(l.body));
  q.connect_timeout = q.timeout = std::chrono::seconds(5);
  auto answer = co_await fetch(*s.client, std::move(q));
  if (answer)
    out.status = answer->status;
  else if (answer.error().what == client_failure::kind::timeout)
    out.failure = failure_text(l, of_job, "ReadTimeout", "");
  else
    out.failure = failure_text(l, of_job, "ConnectError", "All connection attempts failed");
  co_return out;
}

awaitable<void> deliver(services& s, storage::due_callback c) {
  auto l = letter_of(*s.db->snapshot(), c);
  if (!l) {
    s.calling_back.erase(c.id);
    co_return;
  }
  auto name = l->about;
  auto came = co_await post(s, std::move(*l), c.is_job);
  auto apply = [c, now = s.env->now(), came](storage::transaction& t) -> result<void> {
    storage::record_callback(t, c, now, came.status, came.failure);
    return {};
  };
  actors::write w{c.is_job ? "job.callback" : "run.callback", std::move(apply)};
  auto done = co_await ask<actors::done>(s.self, s.store, std::move(w));
  // One that could not be recorded stays among those under way: it is not sent again before the next start.
  if (done)
    s.calling_back.erase(c.id);
  else
    spdlog::error("the callback of {} was sent but not recorded: {}", name, done.error().message);
}

void begin(services& s, const storage::due_callback& c) {
  if (!s.calling_back.insert(c.id).second) return;
  asio::co_spawn(s.streams->io(), deliver(s, c), asio::detached);
}

} // namespace

void send_callback(services& s, const run_id& run) {
  auto snapshot = s.db->snapshot();
  auto row = storage::find_run(*snapshot, run);
  if (!row) return send_callbacks_due(s); // gone, and perhaps it was the last of a batch
  std::vector<storage::due_callback> ended{{run.value, false}};
  if (row->batch) ended.push_back({row->batch->value, true});
  for (auto& c : ended)
    if (storage::is_due(*snapshot, c)) begin(s, c);
}

void send_callbacks_due(services& s) {
  for (auto& c : storage::callbacks_due(*s.db->snapshot())) begin(s, c);
}

} // namespace troupe::net::rest
