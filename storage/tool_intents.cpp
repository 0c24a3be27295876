#include "storage/tool_intents.hpp"

#include "storage/tables.hpp"
#include "storage/turns.hpp"

namespace troupe::storage {

namespace {

struct tool_intent {
  agent_id agent;
  std::optional<conversation_id> conversation;
  step step_;
  std::vector<message> messages;
  std::vector<tool_id> tools_used;
  bool autoclear = false, history_only = false;
};
BOOST_DESCRIBE_STRUCT(tool_intent, (),
                      (agent, conversation, step_, messages, tools_used, autoclear, history_only))

key place_of(const run_id& run) { return key(table::tool_intents).add(run); }

} // namespace

void put_tool_intent(transaction& t, const turn::step_commit& if_lost) {
  tool_intent row;
  row.agent = if_lost.agent;
  row.conversation = if_lost.conversation;
  row.step_ = if_lost.step_.value_or(step{});
  for (auto& m : if_lost.messages) row.messages.push_back(*m);
  row.tools_used = if_lost.tools_used;
  row.autoclear = if_lost.autoclear;
  row.history_only = if_lost.history_only;
  save(t, place_of(if_lost.run), row);
}

void drop_tool_intent(transaction& t, const run_id& run) { t.erase(place_of(run)); }

void settle_tool_intent(transaction& t, const run_id& run, environment& env) {
  auto row = load<tool_intent>(t, place_of(run));
  if (!row) return;
  turn::step_commit batch;
  batch.agent = row->agent;
  batch.conversation = row->conversation;
  batch.run = run;
  if (row->step_.id != step_id{}) batch.step_ = row->step_;
  for (auto& m : row->messages) batch.messages.push_back(std::make_shared<const message>(std::move(m)));
  batch.tools_used = row->tools_used;
  batch.autoclear = row->autoclear;
  batch.history_only = row->history_only;
  // An agent that is gone, or a run that has ended, takes nothing any more.
  [[maybe_unused]] auto done = apply_step(t, batch, env);
  drop_tool_intent(t, run);
}

} // namespace troupe::storage
