// The tools with which an agent speaks to others: asks, whose answers it waits for without holding a thread, and
// messages that it leaves for them, which are stored with its step (reference: groups §7.7).
#include "actors/agent.hpp"
#include "core/base/text.hpp"
#include "storage/agents.hpp"
#include "storage/conversations.hpp"
#include "storage/group_runs.hpp"
#include "storage/groups.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

constexpr std::int64_t longest_wait_us = 20ll * 60 * 1'000'000; // of one ask
constexpr std::size_t most_receivers = 50;                      // of a message to all who match
constexpr const char* too_many_tokens = "the agents that were asked have used up the tokens of this turn";

error not_found(const std::string& id) { return fail(errc::not_found, "Agent with ID " + id + " not found"); }

// Errors of requests, as the tool's callers have always been told them.
tools::tool_exception as_exception(const error& e) {
  bool unknown = e.code == errc::not_found;
  return {unknown ? "NotFoundError" : "UnprocessableEntityError",
          std::string("Error code: ") + (unknown ? "404" : "422") +
              " - {'detail': " + json::python_repr(std::string_view{e.message}) + "}"};
}

} // namespace

std::int64_t context_runner::hops_left() const {
  auto& given = running_->work.order->part_of;
  return given ? given->hops_left : turn::errand().hops_left;
}

std::int64_t context_runner::tokens_left() const {
  auto& given = running_->work.order->part_of;
  return (given ? given->tokens_left : turn::errand().tokens_left) - running_->tokens_of_others;
}

result<std::vector<agent_id>> context_runner::whom(const tool_round& round, const tools::ask& a) const {
  auto snapshot = deps_->db->snapshot();
  auto& org = round.self.organization_id;
  if (!a.by_tags) {
    auto id = agent_id::parse(a.to);
    if (!id) return fail(errc::unprocessable, "Invalid agent ID format: " + a.to);
    if (!storage::find_agent(*snapshot, *id, org)) return not_found(a.to);
    return std::vector<agent_id>{*id};
  }
  storage::agent_query q;
  q.limit = 0;
  q.tags = a.match_all.empty() ? a.match_some : a.match_all;
  q.match_all_tags = !a.match_all.empty();
  std::vector<agent_id> out;
  for (auto& found : storage::list_agents(*snapshot, org, q)) {
    auto has = [&](auto& tag) {
      return std::find(found.tags.begin(), found.tags.end(), tag) != found.tags.end();
    };
    bool some = a.match_some.empty() || std::any_of(a.match_some.begin(), a.match_some.end(), has);
    if (some && found.id != round.self.id) out.push_back(found.id);
  }
  std::sort(out.begin(), out.end());
  if (out.size() > most_receivers) out.resize(most_receivers);
  return out;
}

std::shared_ptr<storage::turn_order> context_runner::order_to(const agent_id& to, const run_id& run,
                                                              std::string text, turn::errand as) const {
  auto order = errand_to(to, run, std::move(as));
  order->run_row.metadata["run_type"] = "send_message";
  order->run_row.request_config.emplace();
  message_create m;
  m.role = message_role::system;
  m.content.emplace_back(text_content{std::move(text), std::nullopt});
  order->request.messages.emplace_back(std::move(m));
  order->run_row.group = order->group = storage::group_led_by(*deps_->db->snapshot(), to);
  return order;
}

// -- messages that are left -------------------------------------------------------------------------
turn::tool_outcome context_runner::leave_message(const tool_round& round, std::size_t i, const agent_id& to,
                                                 const tools::ask& a) const {
  auto& call = round.asked.calls[i].call;
  turn::tool_outcome out{call.id, tools::ask_result(call.name, a, {}), true, {}, {}};
  out.tells.push_back({deps_->env->make_id<run_id>(), to, tools::asked_text(round.self.id, a)});
  return out;
}

std::vector<turn_order_ptr> context_runner::orders_for(const std::vector<turn::tell>& tells) const {
  std::vector<turn_order_ptr> out;
  for (auto& tell : tells) {
    turn::errand as;
    as.is_awaited = false;
    auto order = order_to(tell.to, tell.run, tell.text, std::move(as));
    order->how = turn::mode::async;
    order->resumed = true; // it is stored with the step
    out.push_back(std::move(order));
  }
  return out;
}

// -- asks -------------------------------------------------------------------------------------------
void context_runner::ask_others(tool_round& round, std::size_t i) {
  auto& call = round.asked.calls[i];
  auto refuse = [&](const tools::tool_exception& e) {
    round.outcomes[i] = {call.call.id, tools::ask_failed(call.call.name, e), true, {}, {}};
  };
  auto a = tools::read_ask(call.call.name, call.arguments);
  if (!a) return refuse(a.error());
  auto to = whom(round, *a);
  if (!to) return refuse(as_exception(to.error()));
  if (hops_left() <= 0) return refuse({"RuntimeError", too_many_hops});
  if (tokens_left() <= 0) return refuse({"RuntimeError", too_many_tokens});
  if (!a->waits) {
    round.outcomes[i] = leave_message(round, i, to->front(), *a);
    return;
  }
  auto& asked = round.asks[i];
  asked.what = std::move(*a);
  for (auto& id : *to) asked.answers.push_back({id, {}, std::nullopt});
  for (std::size_t k = 0; k < asked.answers.size() && !round.outcomes[i]; ++k) ask_one(round, i, k);
  if (asked.out.empty()) finish_ask(round, i);
}

void context_runner::ask_one(tool_round& round, std::size_t i, std::size_t k) {
  auto& asked = round.asks[i];
  auto run = deps_->env->make_id<run_id>();
  turn::errand as;
  as.owner = running_->work.order->run_row.id;
  auto& given = running_->work.order->part_of;
  as.deadline = timestamp{deps_->env->now().us + longest_wait_us};
  if (given && given->deadline) as.deadline = std::min(*as.deadline, *given->deadline);
  auto order =
      order_to(asked.answers[k].agent, run, tools::asked_text(round.self.id, asked.what), std::move(as));
  auto here = running_->work.order->context(), there = order->context();
  if (auto cycle = deps_->waits->begin(here, there)) {
    auto names = names_of(*cycle);
    if (asked.what.by_tags)
      asked.answers[k].failure = "would_deadlock: " + text::join(names, " -> ");
    else
      round.outcomes[i] = {round.asked.calls[i].call.id, tools::would_deadlock(names), true, {}, {}};
    return;
  }
  asked.out[run] = {k, there};
  round.out.emplace_back(i, run.value);
  hand_over(order, [this, i, run](const error* why) {
    if (running_->round) other_answered(i, run, why);
  });
}

void context_runner::other_answered(std::size_t i, const run_id& run, const error* why) {
  auto& round = *running_->round;
  if (std::erase(round.out, std::pair(i, run.value)) == 0) return;
  auto& asked = round.asks[i];
  auto& answer = asked.answers[asked.out[run].first];
  asked.out.erase(run);
  auto outcome = storage::outcome_of(*deps_->db->snapshot(), run);
  if (!outcome || outcome->failure)
    answer.failure = outcome ? *outcome->failure : why ? why->message : "its turn was lost";
  else if (outcome->cancelled)
    answer.failure = "it did not answer in time";
  else
    for (auto& words : outcome->said)
      for (auto& part : words.content)
        if (auto* t = std::get_if<text_content>(&part)) answer.said.push_back(t->text);
  if (!asked.out.empty()) return;
  finish_ask(round, i);
  go_on_with_tools();
}

void context_runner::finish_ask(tool_round& round, std::size_t i) {
  if (round.outcomes[i]) return;
  auto& call = round.asked.calls[i].call;
  auto& asked = round.asks[i];
  round.outcomes[i] = {call.id, tools::ask_result(call.name, asked.what, asked.answers), true, {}, {}};
}

std::vector<std::string> context_runner::names_of(const std::vector<uuid>& contexts) const {
  auto snapshot = deps_->db->snapshot();
  std::vector<std::string> out;
  for (auto& c : contexts) {
    auto thread = storage::find_conversation(*snapshot, conversation_id{c});
    auto a = storage::find_agent(*snapshot, thread ? thread->agent : agent_id{c});
    auto g = a ? std::nullopt : storage::find_group(*snapshot, group_id{c});
    out.push_back(a ? a->name : g ? "group " + g->id.str() : c.str());
  }
  return out;
}

} // namespace troupe::actors
