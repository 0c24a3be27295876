// What the server is doing, for people and for Prometheus: work that was promised, queues, who is in memory.
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/outbox.hpp"
#include "storage/pending.hpp"

#include <map>

namespace troupe::net::rest {

namespace {

struct outbox_parameters {
  std::optional<bounded<0, 1000>> limit;
};
BOOST_DESCRIBE_STRUCT(outbox_parameters, (), (limit))

std::string outbox_text(const storage::reader& r, const org_id& org, std::size_t most) {
  auto all = storage::promised_turns(r, org);
  std::map<storage::promise, std::int64_t> kinds;
  for (auto& t : all) ++kinds[t.kind];
  std::string turns = "[";
  for (auto& t : all) {
    if (most-- == 0) break;
    if (turns.size() > 1) turns.push_back(',');
    json::object_writer(turns)
        .add("run_id", t.run)
        .add("agent_id", t.agent)
        .add("kind", t.kind)
        .add("since", t.since);
  }
  return json::object_text([&](json::object_writer& w) {
    w.raw("kinds", json::object_text([&](json::object_writer& counts) {
            for (auto& [kind, n] : kinds) counts.add(json::enum_text(kind), n);
          }));
    w.add("callbacks_due", static_cast<std::int64_t>(storage::callbacks_due(r).size()))
        .raw("turns", turns + "]");
  });
}

// Turns that go on whatever happens to their clients or to the process, oldest first.
awaitable<outcome> outbox(call& c) {
  auto p = query_of<outbox_parameters>(c);
  if (!p) co_return p.error();
  auto most = static_cast<std::size_t>(p->limit.value_or(bounded<0, 1000>{100}).value);
  auto list = [most, org = c.by.org](const storage::reader& r) -> result<std::string> {
    return outbox_text(r, org, most);
  };
  co_return co_await read_on_worker(c, std::move(list));
}

// One line of Prometheus' text form.
void line(std::string& out, std::string_view name, std::string_view labels, std::size_t value) {
  out.append("troupe_").append(name).append(labels).append(" ").append(std::to_string(value)).append("\n");
}

void lines_of(std::string& out, const actors::actor_status& s) {
  auto label = "{actor=\"" + s.name + "\"}";
  line(out, "queued", label, s.queued);
  line(out, "busy", label, s.busy);
  line(out, "resident", label, s.resident);
}

awaitable<outcome> metrics(call& c) {
  std::string out = "# TYPE troupe_queued gauge\n# TYPE troupe_busy gauge\n# TYPE troupe_resident gauge\n";
  auto store = co_await ask<actors::actor_status>(c.s.self, c.s.store, actors::status_atom_v);
  if (store) lines_of(out, *store);
  auto directory = co_await ask<actors::actor_status>(c.s.self, c.s.directory, actors::status_atom_v);
  if (directory) lines_of(out, *directory);
  auto snapshot = c.s.db->snapshot();
  std::map<storage::promise, std::size_t> kinds;
  for (auto& t : storage::promised_turns(*snapshot, c.by.org)) ++kinds[t.kind];
  out += "# TYPE troupe_promised_turns gauge\n";
  for (auto& [kind, n] : kinds)
    line(out, "promised_turns", "{kind=\"" + std::string(json::enum_text(kind)) + "\"}", n);
  out += "# TYPE troupe_callbacks_due gauge\n";
  line(out, "callbacks_due", "", storage::callbacks_due(*snapshot).size());
  http::response r;
  r.content_type = "text/plain; version=0.0.4";
  r.body = std::move(out);
  co_return r;
}

} // namespace

void add_metrics(router& r) {
  r.add("GET", "/outbox", outbox);
  r.add("GET", "/metrics", metrics);
}

} // namespace troupe::net::rest
