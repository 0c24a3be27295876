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

run part_row(const group_run::part& p, const storage::turn_order& whole, environment& env) {
  run row;
  row.id = p.run;
  row.created_at = env.now();
  row.agent = p.agent;
  row.metadata["run_type"] = "group_turn";
  row.metadata["group_run_id"] = boost::json::string(whole.run_row.id.str());
  row.request_config = whole.run_row.request_config;
  row.organization_id = whole.run_row.organization_id;
  row.project_id = whole.run_row.project_id;
  return row;
}

turn::errand errand_of(const group_run::assignment& a, const storage::turn_order& whole) {
  turn::errand e;
  e.owner = whole.run_row.id;
  bool is_reply = a.what.what == group_run::task::reply;
  if (!is_reply) {
    e.group = whole.group;
    if (turn::has_events(whole.how)) e.shown_in = whole.run_row.id;
    if (whole.part_of) e.shown_in = whole.part_of->shown_in;
  }
  e.hops_left = (whole.part_of ? whole.part_of->hops_left : turn::errand().hops_left) - 1;
  e.deadline = a.what.deadline;
  e.extra = {a.prompt, a.tools, a.answer, a.rules};
  return e;
}

} // namespace

turn_order_ptr context_runner::errand_for(const group_run::assignment& a) const {
  auto& whole = *running_->work.order;
  auto order = std::make_shared<storage::turn_order>();
  order->run_row = part_row(a.what, whole, *deps_->env);
  order->agent = a.what.agent;
  order->acting = whole.acting;
  order->request.messages = a.messages;
  order->request.use_assistant_message = whole.request.use_assistant_message;
  order->request.include_return_message_types = whole.request.include_return_message_types;
  order->how = turn::mode::async;
  order->part_of = errand_of(a, whole);
  order->tokens = whole.tokens && order->part_of->shown_in;
  bool speaks = a.what.what == group_run::task::speak || a.what.what == group_run::task::reply;
  if (speaks) order->group = storage::group_led_by(*deps_->db->snapshot(), a.what.agent);
  order->run_row.group = order->group;
  order->resumed = true; // it is stored with the step that begins it
  return order;
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
            auto end = end_of(*order, {run_status::failed, stop_reason::error, {}});
            end.end->metadata["error"] = boost::json::string(e.message);
            keep_for_later(std::move(end), e);
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
    auto end = end_of(*errand, {run_status::failed, stop_reason::error, {}});
    end.end->metadata["error"] = boost::json::string(why);
    store_end("errand.refused", std::move(end), [this, run](const error* e) { part_ended(run, e); });
    return;
  }
  running_->errands[run] = errand->context();
  auto ended = [this, epoch = epoch_, run, here, there = errand->context()](const error* why) {
    deps_->waits->end(here, there);
    if (epoch == epoch_ && running_) part_ended(run, why);
  };
  self_->request(others_, caf::infinite, errand)
      .then([ended](const turn_answer&) { ended(nullptr); },
            [ended](const caf::error& e) {
              auto why = from_caf(e);
              ended(&why);
            });
}

void context_runner::part_ended(const run_id& run, const error* why) {
  if (!running_ || !running_->work.order->group) return;
  running_->errands.erase(run);
  auto snapshot = deps_->db->snapshot();
  auto outcome = storage::outcome_of(*snapshot, run);
  if (!outcome) {
    if (auto row = why ? storage::find_run(*snapshot, run) : std::nullopt) {
      turn::step_commit end;
      end.agent = row->agent;
      end.run = run;
      end.end = turn::run_end{run_status::failed, stop_reason::error, {}};
      end.end->metadata["error"] = boost::json::string(why->message);
      store_end("errand.lost", std::move(end));
    }
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

void context_runner::carry_out(turn::await_parts e) {
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

void context_runner::carry_out(turn::recall_parts e) {
  for (auto& p : e.parts) {
    auto it = running_->errands.find(p.run);
    if (it == running_->errands.end()) continue;
    // Its end is told by the errand itself.
    self_->request(others_, caf::infinite, cancel_atom_v, it->second, p.run.value)
        .then([](bool) {}, [](const caf::error&) {});
  }
}

} // namespace troupe::actors
