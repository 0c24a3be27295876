// Runs and steps.
#pragma once

#include "core/base/environment.hpp"
#include "core/schema/message.hpp"
#include "core/schema/run.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<run> find_run(const reader& r, const run_id& id);
std::optional<run> find_run(const reader& r, const run_id& id, const org_id& org);
void create_run(transaction& t, const run& row);
// An existing one. Keeps the list of active runs; one that has ended goes on no more, and its callback is due where it
// has one.
void put_run(transaction& t, const run& row);
std::vector<run_id> active_runs(const reader& r);
void erase_run(transaction& t, const run& row);

// A message that the store itself adds to what a run has stored, beside one of its steps.
message message_of_run(const run& row, message_role role, const std::optional<step_id>& step,
                       environment& env);

struct run_query {
  std::size_t limit = 100;
  sort_order order = sort_order::desc;
  std::optional<run_id> before,
      after; // unknown ones are passed over; `before` is earlier in time where newest come first
  std::vector<agent_id> agents; // empty: all
  std::vector<run_status> statuses;
  std::optional<bool> background;
  std::optional<stop_reason> reason;
  std::optional<conversation_id> conversation;
  std::function<bool(const run&)> wanted; // what else a run must be
};
std::vector<run> list_runs(const reader& r, const org_id& org, const run_query& q);

std::optional<step> find_step(const reader& r, const step_id& id);
std::optional<step> find_step(const reader& r, const step_id& id, const org_id& org);
void create_step(transaction& t, const step& s);
void put_step(transaction& t, const step& s);
std::vector<step> steps_of(const reader& r, const run& row); // in order

struct step_query {
  std::size_t limit = 50;
  sort_order order = sort_order::desc;
  std::optional<step_id> before, after;
  std::optional<agent_id> agent;
  std::optional<timestamp> start, end;
  std::optional<std::string> model;
  std::vector<std::string> trace_ids;
  std::optional<bool> has_feedback;
  std::vector<std::string> tags;
  std::optional<std::string> project_id;
  std::optional<std::string> feedback;
};
std::vector<step> list_steps(const reader& r, const org_id& org, const step_query& q);

// All runs and steps of an agent.
void erase_runs(transaction& t, const agent_id& agent);

} // namespace troupe::storage
