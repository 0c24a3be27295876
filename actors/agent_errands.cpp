// A run of a group gives turns to its members and waits for them; what became of them it reads from the store, so that
// a run that goes on after a restart finds the same.
#include "actors/agent.hpp"
#include "core/base/text.hpp"
#include "storage/group_runs.hpp"
#include "storage/groups.hpp"
#include "storage/pending.hpp"
#include "storage/runs.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

turn::errand errand_of(const group_run::assignment& a, const storage::turn_order& whole) {
  turn::errand e;
  e.owner = whole.run_row.id;
  bool is_reply = a.what.what == group_run::task::reply;
  if (!is_reply) {
    e.group = whole.group;
    if (turn::has_events(whole.how)) e.shown_in = whole.run_row.id;
    if (whole.part_of) e.shown_in = whole.part_of->shown_in;
  }
  e.deadline = a.what.deadline;
  e.extra = {a.prompt, a.tools, a.answer, a.rules};
  return e;
}

} // namespace

// A turn of another agent. What it is about is added by the caller.
std::shared_ptr<storage::turn_order> context_runner::errand_to(const agent_id& to, const run_id& run,
                                                               turn::errand as) const {
  auto& whole = *running_->work.order;
  auto order = std::make_shared<storage::turn_order>();
  auto& row = order->run_row;
  row.id = run;
  row.created_at = deps_->env->now();
  row.agent = order->agent = to;
  row.organization_id = whole.acting.org;
  row.project_id = whole.run_row.project_id;
  order->acting = whole.acting;
  order->part_of = std::move(as);
  order->part_of->hops_left = hops_left() - 1;
  order->part_of->tokens_left = tokens_left();
  return order;
}

turn_order_ptr context_runner::errand_for(const group_run::assignment& a) const {
  auto& whole = *running_->work.order;
  auto order = errand_to(a.what.agent, a.what.run, errand_of(a, whole));
  order->run_row.metadata["run_type"] = "group_turn";
  order->run_row.metadata["group_run_id"] = boost::json::string(whole.run_row.id.str());
  order->run_row.request_config = whole.run_row.request_config;
  order->request.messages = a.messages;
  order->request.use_assistant_message = whole.request.use_assistant_message;
  order->request.include_return_message_types = whole.request.include_return_message_types;
  order->how = turn::mode::async;
  order->tokens = whole.tokens && order->part_of->shown_in;
  bool speaks = a.what.what == group_run::task::speak || a.what.what == group_run::task::reply;
  if (speaks) order->group = storage::group_led_by(*deps_->db->snapshot(), a.what.agent);
  order->run_row.group = order->group;
  order->resumed = true; // it is stored with the step that begins it
  return order;
}

void context_runner::hand_over(const turn_order_ptr& errand, std::function<void(const error*)> ended) {
  auto answered = [this, epoch = epoch_, here = running_->work.order->context(), there = errand->context(),
                   ended = std::move(ended)](const error* why, std::int64_t tokens) {
    deps_->waits->end(here, there);
    if (epoch != epoch_ || !running_) return;
    running_->tokens_of_others += tokens;
    ended(why);
  };
  self_->request(others_, caf::infinite, errand)
      .then([answered](const turn_answer& a) { answered(nullptr, a.tokens); },
            [answered](const caf::error& e) {
              auto why = from_caf(e);
              answered(&why, 0);
            });
}

void context_runner::carry_out(turn::advance_group e) {
  auto batch = std::make_shared<group_run::step>(std::move(e.batch));
  auto orders = std::make_shared<std::vector<turn_order_ptr>>();
  for (auto& a : batch->begin) orders->push_back(errand_for(a));
  auto apply = [batch, orders, env = deps_->env](storage::transaction& t) {
    return storage::apply_group_step(t, *batch, *orders, *env);
  };
  auto current = [this, epoch = epoch_] { return epoch == epoch_ && running_; };
  self_->request(deps_->store, caf::infinite, write{"group.step", std::move(apply)})
      .then(
          [this, current, orders](done) {
            if (!current()) return;
            for (auto& order : *orders) give(order);
            feed(turn::committed{});
          },
          [this, current, order = running_->work.order](const caf::error& why) {
            auto e = from_caf(why);
            keep_for_later(failed_end(order->run_row, e.message), e);
            if (current()) feed(turn::commit_failed{e});
          });
}

// Nobody is asked who waits for this very answer: that would never end.
void context_runner::give(const turn_order_ptr& errand) {
  auto run = errand->run_row.id;
  auto here = running_->work.order->context();
  auto circle = deps_->waits->begin(here, errand->context());
  if (circle || errand->part_of->hops_left < 0) {
    auto why =
        circle ? "would_deadlock: " + text::join(names_of(*circle), " -> ") : std::string(too_many_hops);
    if (!circle) deps_->waits->end(here, errand->context());
    store_end("errand.refused", failed_end(errand->run_row, why),
              [this, run](const error* e) { part_ended(run, e); });
    return;
  }
  running_->errands[run] = errand->context();
  hand_over(errand, [this, run](const error* why) { part_ended(run, why); });
}

void context_runner::part_ended(const run_id& run, const error* why) {
  if (!running_ || !running_->work.order->group) return;
  running_->errands.erase(run);
  auto snapshot = deps_->db->snapshot();
  auto outcome = storage::outcome_of(*snapshot, run);
  if (!outcome) {
    if (why)
      if (auto row = storage::find_run(*snapshot, run))
        store_end("errand.lost", failed_end(*row, why->message));
    outcome.emplace();
    outcome->run = run;
    outcome->failure = why ? why->message : "its turn was lost";
  }
  auto now = storage::view_of_group(*snapshot, *running_->work.order->group, deps_->env->now());
  snapshot.reset();
  group_run::view gone;
  gone.now = deps_->env->now();
  feed(turn::part_ended{std::move(*outcome), now ? std::move(*now) : std::move(gone)});
}

void context_runner::carry_out(const turn::await_parts& e) {
  auto snapshot = deps_->db->snapshot();
  std::vector<turn_order_ptr> orders;
  std::vector<run_id> ended;
  for (auto& p : e.parts) {
    auto order = storage::pending_order(*snapshot, p.run);
    if (order)
      orders.push_back(order);
    else
      ended.push_back(p.run);
  }
  snapshot.reset();
  for (auto& order : orders) give(order);
  for (auto& run : ended) part_ended(run, nullptr);
}

void context_runner::carry_out(const turn::recall_parts& e) {
  for (auto& p : e.parts) {
    auto it = running_->errands.find(p.run);
    if (it == running_->errands.end()) continue;
    // Its end is told by the errand itself.
    self_->request(others_, caf::infinite, cancel_atom_v, it->second, p.run.value)
        .then([](bool) {}, [](const caf::error&) {});
  }
}

} // namespace troupe::actors
