#include "storage/group_runs.hpp"

#include "core/project/messages.hpp"
#include "storage/agents.hpp"
#include "storage/groups.hpp"
#include "storage/pending.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

key cursor_key(const group_id& g, const agent_id& a) { return key(table::group_cursors).add(g).add(a); }

std::vector<group_run::cursor> cursors_of(const reader& r, const group_id& id) {
  std::vector<group_run::cursor> out;
  r.scan_prefix(key(table::group_cursors).add(id), reader::direction::forward, [&](auto k, auto v) {
    out.push_back({agent_id{last_uuid(k)}, number_at(v, 0)});
    return true;
  });
  return out;
}

group_run::member member_of(const reader& r, const agent& a) {
  group_run::member m;
  m.id = a.id;
  m.name = a.name;
  m.description = a.description.value_or("");
  m.rules = a.tool_rules;
  m.answers_by_tool = !is_native_loop(a.type);
  for (auto& b : blocks_of(r, a))
    if (b.label == "persona") m.persona = b.value;
  return m;
}

std::uint64_t last_entry(const reader& r, const group_id& id) {
  std::uint64_t out = 0;
  r.scan_prefix(key(table::group_log).add(id), reader::direction::backward,
                [&](auto k, auto) { return out = number_at(k, k.size() - 8), false; });
  return out;
}

} // namespace

// -- reading --------------------------------------------------------------------------------------
std::optional<group_run::view> view_of_group(const reader& r, const group_id& id, timestamp now) {
  auto g = find_group(r, id);
  if (!g) return std::nullopt;
  group_run::view v;
  for (auto& a : g->agent_ids)
    if (auto found = find_agent(r, a)) v.members.push_back(member_of(r, *found));
  if (g->manager_agent_id)
    if (auto found = find_agent(r, *g->manager_agent_id)) v.manager = member_of(r, *found);
  v.settings = std::move(*g);
  v.now = now;
  return v;
}

std::optional<group_run::run_state> group_run_state(const reader& r, const run_id& run) {
  return load<group_run::run_state>(r, key(table::group_runs).add(run));
}

std::vector<group_run::log_entry> group_log(const reader& r, const group_id& id, std::uint64_t from) {
  std::vector<group_run::log_entry> out;
  auto prefix = key(table::group_log).add(id);
  r.scan(key(table::group_log).add(id).add(from), after_prefix(prefix), reader::direction::forward,
         [&](auto, auto record) {
           if (auto e = codec::decode<group_run::log_entry>(record)) out.push_back(std::move(*e));
           return true;
         });
  return out;
}

result<group_run::input> load_group_run(const reader& r, const turn_order& order, timestamp now) {
  auto v = view_of_group(r, *order.group, now);
  if (!v) return fail(errc::not_found, "Group with id " + order.group->str() + " not found");
  group_run::input in;
  in.now = std::move(*v);
  in.cursors = cursors_of(r, *order.group);
  in.request = order.request;
  auto last = last_entry(r, *order.group);
  if (auto state = group_run_state(r, order.run_row.id)) {
    in.state = std::move(*state);
    in.is_new = false;
  } else {
    in.state.run = order.run_row.id;
    in.state.group = *order.group;
    in.state.first = last;
  }
  // The least that somebody who is here has heard.
  auto from = last;
  for (auto& c : in.cursors)
    if (group_run::find(in.now, c.agent)) from = std::min(from, c.heard_to);
  if (!in.is_new) from = std::min(from, in.state.first - 1);
  in.log = group_log(r, *order.group, from + 1);
  return in;
}

// -- what became of a turn --------------------------------------------------------------------------
namespace {

std::string failure_text(const run& row) {
  auto* e = row.metadata.if_contains("error");
  if (!e) return "it failed";
  if (e->is_string()) return std::string(e->get_string());
  return std::string(json::string_or(*e, "detail"));
}

std::optional<std::string> spoken_by_tool(const tool_call& call) {
  if (call.name != "send_message") return std::nullopt;
  return group_run::argument_of(call, "message");
}

void add_words(group_run::outcome& out, const message& m, bool by_tool) {
  group_run::said_message words;
  words.otid = project::otid(m.id, 0);
  if (!by_tool)
    for (auto& part : m.content)
      if (std::holds_alternative<text_content>(part) || std::holds_alternative<image_content>(part))
        words.content.push_back(part);
  for (auto& call : m.tool_calls) {
    if (auto text = spoken_by_tool(call)) words.content.emplace_back(text_content{*text, std::nullopt});
    if (group_run::is_group_tool(call.name)) out.calls.push_back(call);
  }
  if (!words.content.empty()) out.said.push_back(std::move(words));
}

// A turn that was a group's own run: what its members said.
void add_parts(const reader& r, const run& row, group_run::outcome& out) {
  for (auto& id : row.parts)
    if (auto part = outcome_of(r, id)) {
      out.said.insert(out.said.end(), part->said.begin(), part->said.end());
      out.heard = true;
    }
}

} // namespace

std::optional<group_run::outcome> outcome_of(const reader& r, const run_id& id) {
  auto row = find_run(r, id);
  if (!row || !is_terminal(row->status)) return std::nullopt;
  group_run::outcome out;
  out.run = id;
  out.cancelled = row->status == run_status::cancelled;
  if (row->status == run_status::failed) out.failure = failure_text(*row);
  out.heard = row->first_sequence != 0;
  out.model_calls = static_cast<std::int64_t>(row->steps.size());
  out.usage = sum_of(steps_of(r, *row));
  auto a = find_agent(r, row->agent);
  bool by_tool = a && !is_native_loop(a->type);
  for (auto& m : messages_of_run(r, row->agent, id, row->first_sequence, row->last_sequence))
    if (m->role == message_role::assistant) add_words(out, *m, by_tool);
  if (!row->parts.empty()) {
    add_parts(r, *row, out);
    out.calls.clear();
  }
  if (row->stop_reason_ == stop_reason::requires_approval) {
    out.waits = !out.calls.empty();
    if (!out.waits) out.failure = "it waits for the approval of a tool call";
  }
  return out;
}

// -- one step ---------------------------------------------------------------------------------------
namespace {

message told_to(const run& row, const agent_id& agent, const group_run::log_entry& e, const group_id& group,
                environment& env) {
  auto m = message_of_run(row, e.role, std::nullopt, env);
  m.agent = agent;
  m.conversation.reset();
  m.content = e.content;
  m.name = e.name;
  m.otid = e.otid;
  m.group = group.str();
  if (e.speaker) m.sender_id = e.speaker->str();
  return m;
}

// What was said after a member's last turn reaches it now, in its context (D1).
void tell_the_rest(transaction& t, const run& row, const group& g, std::uint64_t from, environment& env) {
  auto agents = g.agent_ids;
  if (g.manager_type_ == manager_type::dynamic && g.manager_agent_id) agents.push_back(*g.manager_agent_id);
  for (auto& id : agents) {
    if (!find_agent(t, id)) continue;
    auto known = t.get(cursor_key(g.id, id));
    auto heard = known ? number_at(*known, 0) : from - 1;
    context_key context{id, std::nullopt};
    std::vector<stored_message> rest;
    auto log = group_log(t, g.id, heard + 1);
    for (auto& e : log)
      if (e.speaker != id) rest.push_back(std::make_shared<const message>(told_to(row, id, e, g.id, env)));
    if (log.empty() || !append_between_turns(t, context, rest)) continue;
    t.put(cursor_key(g.id, id), big_endian(log.back().sequence));
  }
}

void end_group_run(transaction& t, run& row, const group_run::step& s, environment& env) {
  turn::run_end end;
  end.status = s.end->cancelled ? run_status::cancelled
               : s.end->failure ? run_status::failed
                                : run_status::completed;
  end.reason = s.end->cancelled ? stop_reason::cancelled
               : s.end->failure ? stop_reason::error
                                : stop_reason::end_turn;
  if (s.end->failure) end.metadata["error"] = boost::json::string(*s.end->failure);
  end_run(row, end, env.now());
  auto g = find_group(t, s.state.group);
  for (auto& p : s.state.past)
    if (auto part = p.what == group_run::task::manage ? find_run(t, p.run) : std::nullopt)
      close_open_calls(t, *part, "The group's run ended before everybody had answered.", env);
  if (g && group_run::make_pattern(g->manager_type_)->shares_log())
    tell_the_rest(t, row, *g, s.state.first, env);
}

// The turns of members that clients see as the run's own, and all steps.
void take_parts(transaction& t, run& row, const group_run::step& s) {
  auto is_shown = [&](const run_id& id) {
    for (auto* list : {&s.state.past, &s.state.out})
      for (auto& p : *list)
        if (p.run == id) return p.what != group_run::task::reply;
    return false;
  };
  for (auto& id : s.ended) {
    auto part = find_run(t, id);
    if (!part) continue;
    row.steps.insert(row.steps.end(), part->steps.begin(), part->steps.end());
    if (is_shown(id)) row.parts.push_back(id);
  }
}

} // namespace

result<void> apply_group_step(transaction& t, const group_run::step& s,
                              const std::vector<std::shared_ptr<const turn_order>>& begin, environment& env) {
  auto row = find_run(t, s.state.run);
  if (!row) return fail(errc::not_found, "Run " + s.state.run.str() + " not found");
  if (is_terminal(row->status)) return fail(errc::cancelled, "The run has ended");
  for (auto& e : s.said) save(t, key(table::group_log).add(s.state.group).add(e.sequence), e);
  for (auto& c : s.heard) t.put(cursor_key(s.state.group, c.agent), big_endian(c.heard_to));
  save(t, key(table::group_runs).add(s.state.run), s.state);
  take_parts(t, *row, s);
  for (auto& order : begin) promise_turn(t, *order);
  row->status = run_status::running;
  if (s.end) end_group_run(t, *row, s, env);
  put_run(t, *row);
  return {};
}

void erase_group_log(transaction& t, const group_id& id) {
  t.erase_prefix(key(table::group_log).add(id));
  t.erase_prefix(key(table::group_cursors).add(id));
}

} // namespace troupe::storage
