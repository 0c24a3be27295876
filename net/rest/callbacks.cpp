#include "net/rest/callbacks.hpp"

#include "core/json/writer.hpp"
#include "core/project/messages.hpp"
#include "net/rest/run_messages.hpp"
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

awaitable<void> deliver(services& s, run_id id) {
  auto snapshot = s.db->snapshot();
  auto row = storage::find_run(*snapshot, id);
  if (!row || !row->callback_url || row->callback_sent_at) co_return;
  client_request q;
  q.url = *row->callback_url;
  q.headers = {"Content-Type: application/json"};
  q.body = std::make_shared<const std::string>(callback_body(*snapshot, *row));
  q.connect_timeout = q.timeout = std::chrono::seconds(5);
  snapshot.reset();
  std::optional<std::int64_t> status;
  std::optional<std::string> failure;
  auto prefix = "Failed to dispatch callback for run " + id.str() + " to " + q.url + ": ";
  if (!q.url.starts_with("http://") && !q.url.starts_with("https://")) {
    failure =
        prefix + R"(UnsupportedProtocol("Request URL is missing an 'http://' or 'https://' protocol."))";
  } else if (auto answer = co_await fetch(*s.client, std::move(q)); answer) {
    status = answer->status;
  } else {
    bool late = answer.error().what == client_failure::kind::timeout;
    failure = prefix + (late ? "ReadTimeout('')" : "ConnectError('All connection attempts failed')");
  }
  auto apply = [id, now = s.env->now(), status, failure](storage::transaction& t) -> result<void> {
    storage::record_callback(t, id, now, status, failure);
    return {};
  };
  actors::write w{"run.callback", std::move(apply)};
  auto done = co_await ask<actors::done>(s.self, s.store, std::move(w));
  if (!done)
    spdlog::error("the callback of {} was sent but not recorded: {}", id.str(), done.error().message);
}

} // namespace

void send_callback(services& s, const run_id& run) {
  asio::co_spawn(s.streams->io(), deliver(s, run), asio::detached);
}

void send_callbacks_due(services& s) {
  for (auto& id : storage::callbacks_due(*s.db->snapshot())) send_callback(s, id);
}

} // namespace troupe::net::rest
