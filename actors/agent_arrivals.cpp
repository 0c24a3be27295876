// A request that finds its context at work: the same one came before, or it must not wait.
#include "actors/agent.hpp"
#include "storage/requests.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// Only a request whose every message has an otid is told apart from another.
bool has_otids(const storage::turn_order& order) {
  auto n = order.run_row.otids.size();
  return n > 0 && n == order.request.messages.size();
}

bool is_same(const context_job& j, const storage::turn_order& order) {
  return j.order && !j.order->compaction && j.order->how == order.how &&
         j.order->run_row.otids == order.run_row.otids;
}

error busy_error(const run_id& run) {
  auto e = fail(errc::busy, "CONFLICT: Cannot send a new message: Another request (run_id=" + run.str() +
                                ") is currently being processed for this conversation. Please wait for it to "
                                "complete.");
  e.extra["run_id"] = boost::json::string(run.str());
  return e;
}

} // namespace

// Answers a request that is under way with the run that it already has. One that has ended is run again, unless its
// endpoint says otherwise.
bool context_runner::repeats(const turn_order_ptr& order, reply<turn_answer>& answer) {
  if (auto* at_work =
          order->part_of ? find_job(order->run_row.id) : nullptr) { // given again after its giver died
    at_work->repeats.push_back(std::move(answer));
    return true;
  }
  if (order->resumed || order->compaction || !has_otids(*order)) return false;
  auto it = std::find_if(queue_.begin(), queue_.end(), [&](auto& j) { return is_same(j, *order); });
  auto* first = running_ && is_same(running_->work, *order) ? &running_->work
                : it != queue_.end()                        ? &*it
                                                            : nullptr;
  if (first) {
    if (first->accepted)
      answer.deliver(turn_answer{{}, first->order->run_row.id, 0});
    else
      first->repeats.push_back(std::move(answer));
    return true;
  }
  if (!order->replays) return false;
  auto earlier = storage::run_of_request(*deps_->db->snapshot(), order->run_row);
  if (earlier && earlier->background) answer.deliver(turn_answer{{}, earlier->id, 0});
  return earlier && earlier->background;
}

bool context_runner::refused(const turn_order_ptr& order, reply<turn_answer>& answer) {
  if (order->busy != storage::busy_policy::reject) return false;
  auto has_run = [](const context_job& j) { return j.order && !j.order->compaction; };
  auto it = std::find_if(queue_.begin(), queue_.end(), has_run);
  auto* at_work = running_ && has_run(running_->work) ? &running_->work : it != queue_.end() ? &*it : nullptr;
  if (!at_work) return false;
  answer.deliver(busy_error(at_work->order->run_row.id));
  return true;
}

// Everything that was asked before ends; the newest request is what counts.
void context_runner::interrupt() {
  std::vector<run_id> runs;
  if (running_ && running_->work.order && !running_->work.order->compaction)
    runs.push_back(running_->work.order->run_row.id);
  for (auto& j : queue_)
    if (j.order && !j.order->compaction) runs.push_back(j.order->run_row.id);
  std::reverse(runs.begin(), runs.end()); // none of those that wait begins when the running one has ended
  for (auto& run : runs) cancel(run, {});
}

} // namespace troupe::actors
