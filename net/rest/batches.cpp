// /messages/batches: many sends as one job. Each of them is an asynchronous run of its own; the job is what they are
// (recording async-batches).
#include "net/rest/callbacks.hpp"
#include "net/rest/cancelling.hpp"
#include "net/rest/job_runs.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"
#include "storage/jobs.hpp"
#include "storage/organizations.hpp"
#include "storage/pending.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

// -- requests -------------------------------------------------------------------------------------
struct batch_request {
  agent_id agent;
  send_request send;

  static bool read_json(json::reader& r, const json::value& v, batch_request& out) {
    bool good = read_send(r, v, send_model::plain, out.send);
    auto* given = json::find(v, "agent_id");
    json::reader::scope at(r, "agent_id");
    if (!given) return r.fail("missing", "Field required", v);
    return json::read(r, *given, out.agent) && good;
  }
};
BOOST_DESCRIBE_STRUCT(batch_request, (), (agent, send))

struct web_address {
  std::string value;
};

bool read(json::reader& r, const json::value& v, web_address& out) {
  constexpr std::size_t longest = 2083;
  if (!v.is_string()) return r.fail("url_type", "URL input should be a string or URL", v);
  out.value = std::string(json::view(v.get_string()));
  if (out.value.size() > longest)
    return r.fail("url_too_long", "URL should have at most 2083 characters", v, "{'max_length': 2083}");
  auto colon = out.value.find("://");
  if (colon == std::string::npos || colon == 0)
    return r.fail("url_parsing", "Input should be a valid URL, relative URL without a base", v,
                  "{'error': 'relative URL without a base'}");
  auto scheme = out.value.substr(0, colon);
  if (scheme == "http" || scheme == "https") return true;
  return r.fail("url_scheme", "URL scheme should be 'http' or 'https'", v,
                "{'expected_schemes': \"'http' or 'https'\"}");
}

struct batch_body {
  std::vector<batch_request> requests;
  std::optional<web_address> callback_url;

  static constexpr std::string_view required[] = {"requests"};
};
BOOST_DESCRIBE_STRUCT(batch_body, (), (requests, callback_url))

// Messages that do not say what they are get it said before anything is checked, and errors show them so.
json::value with_message_types(json::value document) {
  auto* o = document.if_object();
  auto* requests = o ? o->if_contains("requests") : nullptr;
  if (!requests || !requests->is_array()) return document;
  for (auto& request : requests->get_array()) {
    auto* fields = request.if_object();
    auto* messages = fields ? fields->if_contains("messages") : nullptr;
    if (!messages || !messages->is_array()) continue;
    for (auto& item : messages->get_array())
      if (auto* m = item.if_object(); m && !m->contains("type"))
        (*m)["type"] = m->contains("approval_request_id") || m->contains("approve") ? "approval" : "message";
  }
  return document;
}

// -- creating -------------------------------------------------------------------------------------
using orders = std::vector<std::shared_ptr<storage::turn_order>>;

awaitable<result<orders>> make_orders(call& c, std::vector<batch_request> requests) {
  orders out;
  for (auto& request : requests) {
    if (request.send.messages.empty()) co_return fail(errc::unprocessable, "Messages must not be empty");
    destination to{request.agent, std::nullopt, "send_message_async", std::nullopt};
    auto order = co_await make_order(c, std::move(to), std::move(request.send), turn::mode::async);
    if (!order) co_return order.error();
    (*order)->resumed = true; // it is stored with the job
    out.push_back(std::move(*order));
  }
  co_return out;
}

job new_job(const call& c, std::optional<std::string> callback_url, const orders& of) {
  job j;
  j.created_by_id = j.last_updated_by_id = c.by.user;
  j.created_at = j.updated_at = c.s.env->now();
  j.status = job_status::running;
  j.type = job_type::batch;
  j.id = c.s.env->make_id<job_id>();
  j.metadata.emplace()["job_type"] = "batch_messages";
  j.callback_url = std::move(callback_url);
  j.organization_id = c.by.org;
  for (auto& order : of) {
    j.runs.push_back(order->run_row.id);
    order->run_row.batch = j.id;
  }
  return j;
}

// The job and all that it promises: a crash leaves both or neither.
awaitable<result<void>> store_batch(call& c, const job& row, const orders& of) {
  std::function<result<void>(storage::transaction&)> store = [row, of](auto& t) -> result<void> {
    storage::create_job(t, row);
    for (auto& order : of) storage::promise_turn(t, *order);
    return {};
  };
  co_return co_await commit(c, "batch.create", std::move(store));
}

// What a mailbox refused is written down in the job, which has failed then, and the run is over.
awaitable<result<void>> store_refused(call& c, job& row,
                                      std::vector<std::pair<run_id, std::string>> refused) {
  auto now = c.s.env->now();
  row.status = job_status::failed;
  row.completed_at = naive_timestamp{now.us};
  std::function<result<void>(storage::transaction&)> store = [row, refused, now](auto& t) -> result<void> {
    storage::put_job(t, row);
    for (auto& [id, why] : refused) {
      auto r = storage::find_run(t, id);
      if (!r || is_terminal(r->status)) continue;
      turn::run_end end{run_status::failed, stop_reason::error, {}};
      end.metadata["error"] = boost::json::string(why);
      storage::end_run(*r, end, now);
      storage::put_run(t, *r);
    }
    return {};
  };
  co_return co_await commit(c, "batch.refused", std::move(store));
}

awaitable<result<void>> start_runs(call& c, job& row, orders of) {
  json::array listed;
  std::vector<std::pair<run_id, std::string>> refused;
  for (auto& order : of) {
    auto accepted = co_await ask<actors::turn_answer>(c.s.self, c.s.directory, actors::turn_order_ptr(order));
    if (accepted) continue;
    json::object why;
    why["agent_id"] = boost::json::string(order->agent.str());
    why["error"] = boost::json::string(accepted.error().message);
    listed.emplace_back(std::move(why));
    refused.emplace_back(order->run_row.id, accepted.error().message);
  }
  if (refused.empty()) co_return result<void>{};
  (*row.metadata)["refused"] = std::move(listed);
  auto stored = co_await store_refused(c, row, std::move(refused));
  if (stored) send_callbacks_due(c.s);
  co_return stored;
}

awaitable<outcome> create(call& c) {
  auto document = body_document(c);
  if (!document) co_return document.error();
  auto body = json::read_as<batch_body>(with_message_types(std::move(*document)));
  if (!body) co_return body.error();
  if (body->requests.empty())
    co_return fail(errc::invalid_argument, "Empty list of batch_requests passed in!");
  auto made = co_await make_orders(c, std::move(body->requests));
  if (!made) co_return made.error();
  std::optional<std::string> url;
  if (body->callback_url) url = std::move(body->callback_url->value);
  auto row = new_job(c, std::move(url), *made);
  auto stored = co_await store_batch(c, row, *made);
  if (!stored) co_return stored.error();
  auto started = co_await start_runs(c, row, std::move(*made));
  if (!started) co_return started.error();
  co_return http::response::json(json::to_text(row));
}

// -- reading --------------------------------------------------------------------------------------
result<job_id> batch_of_path(const call& c) {
  auto text = c.path_value("batch_id");
  if (auto id = job_id::parse(text)) return *id;
  return invalid_argument("Invalid job ID format: " + std::string(text) + ". Expected format: 'job-<uuid4>'");
}

result<job> find_batch(const storage::reader& r, const job_id& id, const actor& by) {
  auto j = storage::find_job(r, id, by.org);
  if (!j || j->type != job_type::batch) return storage::not_found_for("Job", id.str(), by);
  return std::move(*j);
}

awaitable<outcome> list(call& c) {
  auto p = query_of<page_parameters>(c);
  if (!p) co_return p.error();
  storage::job_query q;
  q.limit = p->items(100);
  q.order = p->order.value_or(sort_order::desc);
  q.type = job_type::batch;
  q.active = true;
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto set = set_cursors(q, r, c.by.org, filled(p->before), filled(p->after));
    if (!set) return set.error();
    return json::to_text(storage::list_jobs(r, c.by.org, q));
  });
}

awaitable<outcome> retrieve(call& c) {
  auto id = batch_of_path(c);
  if (!id) co_return id.error();
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto j = find_batch(r, *id, c.by);
    if (!j) return j.error();
    return json::to_text(*j);
  });
}

struct message_parameters {
  std::optional<std::string> agent_id;
};
BOOST_DESCRIBE_STRUCT(message_parameters, (), (agent_id))

// The messages of all its runs, oldest first.
std::vector<storage::stored_message> messages_of(const storage::reader& r, const job& j,
                                                 const std::optional<std::string>& agent) {
  std::vector<std::pair<std::uint64_t, storage::stored_message>> placed;
  for (auto& id : j.runs) {
    auto row = storage::find_run(r, id);
    if (!row || (agent && row->agent.str() != *agent)) continue;
    for (auto& m : storage::messages_of_run(r, row->agent, row->id, row->first_sequence, row->last_sequence))
      placed.emplace_back(storage::find_message_place(r, m->id)->sequence, std::move(m));
  }
  std::sort(placed.begin(), placed.end());
  std::vector<storage::stored_message> out;
  out.reserve(placed.size());
  for (auto& [place, m] : placed) out.push_back(std::move(m));
  return out;
}

awaitable<outcome> messages(call& c) {
  auto id = batch_of_path(c);
  if (!id) co_return id.error();
  auto page = query_of<page_parameters>(c);
  if (!page) co_return page.error();
  auto p = query_of<message_parameters>(c);
  if (!p) co_return p.error();
  std::function<result<std::string>(const storage::reader&)> list =
      [id = *id, page = *page, agent = p->agent_id,
       by = c.by](const storage::reader& r) -> result<std::string> {
    auto j = find_batch(r, id, by);
    if (!j) return j.error();
    auto before = sequence_of(r, page.before, by.org);
    if (!before) return before.error();
    auto after = sequence_of(r, page.after, by.org);
    if (!after) return after.error();
    auto order = page.order.value_or(sort_order::desc);
    if (order == sort_order::desc) std::swap(*before, *after); // the cursors go with the order
    auto cut = cut_messages(r, messages_of(r, *j, agent), *before, *after, page.items(100), order);
    std::string out = "{\"messages\":[";
    for (auto& m : cut) {
      if (out.back() != '[') out.push_back(',');
      json::write(out, *m);
    }
    return out + "]}";
  };
  co_return co_await read_on_worker(c, std::move(list));
}

awaitable<outcome> cancel(call& c) {
  auto id = batch_of_path(c);
  if (!id) co_return id.error();
  auto found = find_batch(*c.s.db->snapshot(), *id, c.by);
  if (!found) co_return found.error();
  auto ended = co_await cancel_job(c, *id);
  if (!ended) co_return ended.error();
  co_return http::response::json("null");
}

} // namespace

awaitable<outcome> cancel_job(call& c, const job_id& id) {
  auto found = storage::find_job(*c.s.db->snapshot(), id, c.by.org);
  if (!found) co_return storage::not_found_for("Job", id.str(), c.by);
  if (!is_terminal(found->status)) {
    std::function<result<std::string>(storage::transaction&)> store = [id, by = c.by,
                                                                       now = c.s.env->now()](auto& t) {
      auto j = storage::find_job(t, id, by.org);
      if (!j) return result<std::string>(storage::not_found_for("Job", id.str(), by));
      if (is_terminal(j->status)) return result<std::string>(json::to_text(*j));
      j->status = job_status::cancelled;
      j->stop_reason_ = stop_reason::cancelled;
      j->completed_at = naive_timestamp{now.us};
      j->updated_at = now;
      j->last_updated_by_id = by.user;
      storage::put_job(t, *j);
      return result<std::string>(json::to_text(*j));
    };
    auto stored = co_await write(c, "job.cancel", std::move(store));
    if (!stored) co_return stored;
    for (auto& run : found->runs) {
      auto row = storage::find_run(*c.s.db->snapshot(), run);
      if (row && !is_terminal(row->status)) co_await cancel_one(c, run);
    }
    co_return stored;
  }
  co_return http::response::json(json::to_text(*found));
}

void add_batches(router& r) {
  r.add("POST", "/messages/batches", create);
  r.add("GET", "/messages/batches", list);
  r.add("GET", "/messages/batches/{batch_id}", retrieve);
  r.add("GET", "/messages/batches/{batch_id}/messages", messages);
  r.add("PATCH", "/messages/batches/{batch_id}/cancel", cancel);
}

} // namespace troupe::net::rest
