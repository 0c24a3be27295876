// What the server is doing, for people and for Prometheus: work that was promised, queues, who is in memory.
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "storage/outbox.hpp"
#include "storage/pending.hpp"
#include "storage/sleeptime.hpp"

#include <algorithm>
#include <map>

namespace troupe::net::rest {

namespace {

struct outbox_parameters {
  std::optional<bounded<0, 1000>> limit;
};
BOOST_DESCRIBE_STRUCT(outbox_parameters, (), (limit))

using counts = std::map<storage::promise, std::size_t>;

counts count(const std::vector<storage::promised_turn>& turns) {
  counts out;
  for (auto& t : turns) ++out[t.kind];
  return out;
}

std::string outbox_text(const storage::reader& r, const org_id& org, std::size_t most) {
  auto all = storage::promised_turns(r, org);
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
    w.raw("kinds", json::object_text([&](json::object_writer& kinds) {
            for (auto& [kind, n] : count(all)) kinds.add(json::enum_text(kind), static_cast<std::int64_t>(n));
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

// How far the companions of agents are behind, and which of them fail.
void add_companions(std::string& out, const storage::reader& r, const org_id& org, timestamp now) {
  std::size_t waiting = 0, working = 0, failing = 0;
  auto oldest = now;
  for (auto& j : storage::jobs_of_org(r, org)) {
    waiting += !j.waiting.empty();
    working += j.working.has_value();
    failing += j.last_error.has_value();
    if (!j.waiting.empty()) oldest = std::min(oldest, j.first_trigger);
  }
  out += "# TYPE troupe_companions gauge\n";
  line(out, "companions", "{state=\"waiting\"}", waiting);
  line(out, "companions", "{state=\"working\"}", working);
  line(out, "companions", "{state=\"failing\"}", failing);
  out += "# TYPE troupe_companions_lag_seconds gauge\n";
  line(out, "companions_lag_seconds", "", static_cast<std::size_t>((now.us - oldest.us) / 1'000'000));
}

awaitable<outcome> metrics(call& c) {
  std::string out = "# TYPE troupe_queued gauge\n# TYPE troupe_busy gauge\n# TYPE troupe_resident gauge\n";
  auto store = co_await ask<actors::actor_status>(c.s.self, c.s.store, actors::status_atom_v);
  if (store) lines_of(out, *store);
  auto directory = co_await ask<actors::actor_status>(c.s.self, c.s.directory, actors::status_atom_v);
  if (directory) lines_of(out, *directory);
  auto promised = [out, org = c.by.org,
                   now = c.s.env->now()](const storage::reader& r) -> result<std::string> {
    auto text = out + "# TYPE troupe_promised_turns gauge\n";
    for (auto& [kind, n] : count(storage::promised_turns(r, org)))
      line(text, "promised_turns", "{kind=\"" + std::string(json::enum_text(kind)) + "\"}", n);
    text += "# TYPE troupe_callbacks_due gauge\n";
    line(text, "callbacks_due", "", storage::callbacks_due(r).size());
    add_companions(text, r, org, now);
    return text;
  };
  auto answer = co_await read_on_worker(c, std::move(promised));
  if (answer) answer->content_type = "text/plain; version=0.0.4";
  co_return answer;
}

} // namespace

void add_metrics(router& r) {
  r.add("GET", "/outbox", outbox);
  r.add("GET", "/metrics", metrics);
}

} // namespace troupe::net::rest
