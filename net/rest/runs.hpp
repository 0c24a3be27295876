// What lists of runs share: their parameters and their text.
#pragma once

#include "core/schema/run.hpp"
#include "net/rest/parameters.hpp"
#include "storage/runs.hpp"

namespace troupe::net::rest {

struct run_list_parameters {
  std::optional<std::string> agent_id, conversation_id, before, after;
  std::vector<std::string> agent_ids, statuses;
  std::optional<bool> background;
  std::optional<troupe::stop_reason> stop_reason;
  std::optional<bounded<1, 1000>> limit;
  std::optional<sort_order> order;
  bool active = false;
  std::optional<bool> ascending;
};
BOOST_DESCRIBE_STRUCT(run_list_parameters, (),
                      (agent_id, conversation_id, before, after, agent_ids, statuses, background, stop_reason,
                       limit, order, active, ascending))

// Errors: invalid_argument, for a status that there is not.
result<storage::run_query> run_query_for(const run_list_parameters& p);
std::string run_list_text(const std::vector<run>& rows);

} // namespace troupe::net::rest
