// How the calls of a reply are carried out (actors/tool_round.hpp).
#include "actors/agent.hpp"
#include "core/tools/base_tools.hpp"
#include "storage/agents.hpp"
#include "storage/tool_intents.hpp"
#include "storage/tool_searches.hpp"

#include <algorithm>

namespace troupe::actors {

const tool* tool_round::tool_of(std::size_t i) const {
  auto& name = asked.calls[i].call.name;
  auto it = std::find_if(attached.begin(), attached.end(), [&](auto& t) { return t.name == name; });
  return it == attached.end() ? nullptr : &*it;
}

bool tool_round::is_out(std::size_t i) const {
  return std::any_of(out.begin(), out.end(), [&](auto& o) { return o.first == i; });
}

namespace {

turn::tool_outcome turned_down(const turn::tool_invocation& call, const tools::tool_exception& e) {
  return {call.call.id, tools::failed(call.call.name, e), false, {}};
}

} // namespace

void context_runner::carry_out(turn::run_tools e) {
  auto& round = *(running_->round = std::make_unique<tool_round>(std::move(e)));
  round.began_ns = deps_->env->monotonic_ns();
  auto snapshot = deps_->db->snapshot();
  if (auto record = storage::find_agent(*snapshot, running_->work.order->agent)) {
    round.attached = storage::tools_of(*snapshot, *record);
    round.self = std::move(*record);
  }
  snapshot.reset();
  if (!round.asked.if_lost) return begin_tools();
  auto begin = [this, epoch = epoch_](const error* why) {
    if (epoch != epoch_ || !running_ || !running_->round) return;
    if (why) running_->round->refused = *why;
    begin_tools();
  };
  auto apply = [batch = std::move(*round.asked.if_lost)](storage::transaction& t) -> result<void> {
    storage::put_tool_intent(t, batch);
    return {};
  };
  self_->request(deps_->store, caf::infinite, write{"turn.intent", std::move(apply)})
      .then([begin](done) { begin(nullptr); },
            [begin](const caf::error& e) {
              auto why = from_caf(e);
              begin(&why);
            });
}

void context_runner::begin_tools() {
  auto& round = *running_->round;
  change_blocks(round, round.asked.kept);
  if (round.asked.calls.size() > 1 && !round.refused)
    for (std::size_t i = 0; i < round.asked.calls.size(); ++i)
      if (auto* t = round.tool_of(i);
          t && t->enable_parallel_execution.value_or(false) && tools::runs_in_sandbox(*t))
        run_outside(round, i, *t);
  go_on_with_tools();
}

// Until the next call that has to be waited for.
void context_runner::go_on_with_tools() {
  auto& round = *running_->round;
  for (; round.next < round.asked.calls.size(); ++round.next) {
    auto i = round.next;
    auto& call = round.asked.calls[i];
    if (round.outcomes[i] || round.is_out(i)) continue;
    auto* t = round.tool_of(i);
    auto& given = running_->work.order->part_of;
    if (given && given->extra.answer && given->extra.has_tool(call.call.name)) {
      round.outcomes[i] = {call.call.id,
                           {return_status::success, boost::json::string(*given->extra.answer), {}, {}}};
      continue;
    }
    if (round.cancelled)
      round.outcomes[i] =
          turned_down(call, tools::value_error("the request was cancelled before this call began"));
    else if (!t)
      round.outcomes[i] = turned_down(call, tools::value_error("Tool not found"));
    else if (round.refused && tools::runs_in_sandbox(*t))
      round.outcomes[i] = turned_down(call, {"StorageError", round.refused->message});
    else if (tools::is_core_tool(*t))
      run_here(round, i);
    else if (tools::asks_others(*t)) {
      ask_others(round, i);
      if (!round.outcomes[i]) return;
    } else if (tools::runs_in_sandbox(*t) && deps_->sandbox)
      return run_outside(round, i, *t);
    else
      round.outcomes[i] = turned_down(
          call, {"NotImplementedError", "tools of type " + std::string(json::enum_text(t->tool_type_)) +
                                            " cannot be run by this version yet"});
  }
  if (round.out.empty()) finish_tools();
}

tools::memory& context_runner::blocks_of(tool_round& round) {
  if (!round.blocks) {
    auto snapshot = deps_->db->snapshot();
    round.blocks.emplace(
        storage::blocks_of_context(*snapshot, round.self, running_->work.order->conversation));
  }
  return *round.blocks;
}

void context_runner::change_blocks(tool_round& round, const std::vector<tools::block_change>& changes) {
  for (auto& c : changes)
    if (auto* b = blocks_of(round).find(c.label); b && !b->read_only)
      blocks_of(round).set_value(c.label, c.value);
}

// A built-in tool: what REST or another agent wrote since the turn began is what it works on.
void context_runner::run_here(tool_round& round, std::size_t i) {
  auto snapshot = deps_->db->snapshot();
  auto searches = storage::searches_of(*snapshot, round.self.id, &running_->work.order->request.messages);
  tools::tool_context context{round.self, blocks_of(round), *deps_->env, std::move(searches)};
  auto& call = round.asked.calls[i];
  round.outcomes[i] = {
      call.call.id, tools::run_core_tool(call.call.name, call.arguments, context), false, {}};
}

void context_runner::run_outside(tool_round& round, std::size_t i, const tool& t) {
  auto& call = round.asked.calls[i];
  tools::tool_run run;
  run.name = t.name;
  run.source = t.source_code.value_or("");
  run.schema = t.json_schema;
  run.arguments = call.arguments;
  run.environment = tools::variables_of(round.self, t);
  if (tools::asks_for_agent_state(run.source)) {
    auto snapshot = deps_->db->snapshot();
    run.agent_state = storage::agent_state(*snapshot, round.self, agent_relations::all());
  }
  sandbox_job_ptr job =
      std::make_shared<sandbox_job>(sandbox_job{deps_->env->random_uuid(), tools::run_request(run)});
  round.out.emplace_back(i, job->id);
  auto answered = [this, i, epoch = epoch_, id = job->id](const result<std::string>& r) {
    bool mine = epoch == epoch_ && running_ && running_->round;
    if (mine && std::erase(running_->round->out, std::pair(i, id)) > 0) tool_answered(i, r);
  };
  self_->request(deps_->sandbox, caf::infinite, job)
      .then([answered](std::string& body) { answered(std::move(body)); },
            [answered](const caf::error& why) { answered(from_caf(why)); });
}

void context_runner::tool_answered(std::size_t i, const result<std::string>& answer) {
  auto& round = *running_->round;
  auto& call = round.asked.calls[i].call;
  auto read = tools::read_run_answer(call.name, answer);
  if (round.cancelled && !answer)
    read.result = tools::failed(
        call.name, tools::value_error("The request was cancelled while this call was running. It "
                                      "may have had its effect, or not."));
  change_blocks(round, read.blocks);
  round.outcomes[i] = {call.id, std::move(read.result), true, std::move(read.blocks)};
  go_on_with_tools();
}

void context_runner::finish_tools() {
  auto round = std::move(running_->round);
  turn::tools_finished event;
  for (auto& o : round->outcomes) event.outcomes.push_back(std::move(*o));
  if (round->blocks) event.edits = round->blocks->edits();
  event.duration_ns = deps_->env->monotonic_ns() - round->began_ns;
  feed(std::move(event));
}

void context_runner::carry_out(turn::abandon_tools) {
  if (!running_->round) return;
  running_->round->cancelled = true;
  for (auto& [i, job] : running_->round->out)
    if (!running_->round->asks.contains(i)) self_->send(deps_->sandbox, abandon_atom_v, job);
  for (auto& [i, asked] : running_->round->asks)
    for (auto& [run, at] : asked.out)
      self_->request(others_, caf::infinite, cancel_atom_v, at.second, run.value)
          .then([](bool) {}, [](const caf::error&) {});
}

} // namespace troupe::actors
