// What was said in a group, and the trace of its runs: who was asked what, why, and how much it had heard.
#include "net/rest/groups_log.hpp"

#include "core/project/messages.hpp"
#include "net/rest/message_lists.hpp"
#include "net/rest/resources.hpp"
#include "storage/agents.hpp"
#include "storage/group_runs.hpp"
#include "storage/groups.hpp"
#include "storage/organizations.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::net::rest {

namespace {

std::string text_of(const group_run::log_entry& e) {
  std::string out;
  for (auto& part : e.content)
    if (auto* t = std::get_if<text_content>(&part)) out += t->text;
  return out;
}

void write_entry(std::string& out, const group_run::log_entry& e) {
  std::string_view type = e.speaker                        ? "assistant_message"
                          : e.role == message_role::system ? "system_message"
                                                           : "user_message";
  json::object_writer w(out);
  project::write_head(w, {e.otid.value_or(""), e.at, type, e.otid, std::nullopt, e.run,
                          static_cast<std::int64_t>(e.sequence), e.name});
  w.add("content", text_of(e)).add("agent_id", e.speaker).add("turn", e.turn);
}

} // namespace

std::string conversation_text(const storage::reader& r, const group& g, const page_parameters& page) {
  auto log = storage::group_log(r, g.id);
  auto position = [&](const std::optional<std::string>& cursor) {
    auto it = std::find_if(log.begin(), log.end(), [&](auto& e) { return cursor && e.otid == cursor; });
    return it == log.end() ? std::nullopt : std::optional(it->sequence);
  };
  cut_window(log, position(page.before), position(page.after), page.items(100),
             page.order.value_or(sort_order::desc));
  return json::list_text(log, write_entry);
}

namespace {

void write_part(std::string& out, const storage::reader& r, const group_run::part& p) {
  auto a = storage::find_agent(r, p.agent);
  auto row = storage::find_run(r, p.run);
  auto usage = row ? sum_of(storage::steps_of(r, *row)) : usage_statistics{};
  json::object_writer(out)
      .add("run_id", p.run)
      .add("agent_id", p.agent)
      .add("agent_name", a ? std::optional(a->name) : std::nullopt)
      .add("task", p.what)
      .add("why", p.why)
      .add("heard_to", p.heard_to)
      .add("attempt", p.attempt)
      .add("status", row ? std::optional(row->status) : std::nullopt)
      .add("total_tokens", usage.total_tokens)
      .add("step_count", usage.step_count);
}

std::string trace_text(const storage::reader& r, const group_run::run_state& s) {
  std::string parts = "[";
  for (auto* list : {&s.past, &s.out})
    for (auto& p : *list) {
      if (parts.size() > 1) parts.push_back(',');
      write_part(parts, r, p);
    }
  return json::object_text([&](json::object_writer& w) {
    w.add("run_id", s.run)
        .add("group_id", s.group)
        .add("first_entry", s.first)
        .add("turns", s.turns)
        .raw("parts", parts + "]");
  });
}

// Who was asked in a run of the group, what for, why, and what each had heard of the log by then.
awaitable<outcome> trace(call& c) {
  auto id = path_id<group_id>(c, "group_id");
  if (!id) co_return id.error();
  auto run = run_id::parse(c.path_value("run_id"));
  co_return read(c, [&](const storage::reader& r) -> result<std::string> {
    auto g = storage::find_group(r, *id, c.by.org);
    if (!g) return storage::not_found_for("Group", id->str(), c.by);
    auto state = run ? storage::group_run_state(r, *run) : std::nullopt;
    if (!state || state->group != *id)
      return storage::not_found_for("Run", std::string(c.path_value("run_id")), c.by);
    return trace_text(r, *state);
  });
}

} // namespace

void add_group_log(router& r) { r.add("GET", "/groups/{group_id}/runs/{run_id}/trace", trace); }

} // namespace troupe::net::rest
