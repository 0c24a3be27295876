// Jobs: work that outlives its request (reference: resources §1, agent-loop §10.2). Of the kinds that clients know, a
// server has batches of messages.
#pragma once

#include "core/schema/run.hpp"

namespace troupe {

enum class job_status { created, running, completed, failed, pending, cancelled, expired };
BOOST_DESCRIBE_ENUM(job_status, created, running, completed, failed, pending, cancelled, expired)
constexpr bool is_terminal(job_status s) {
  return s != job_status::created && s != job_status::running && s != job_status::pending;
}

enum class job_type { job, run, batch };
BOOST_DESCRIBE_ENUM(job_type, job, run, batch)

struct job {
  // -- the API's members, in its order
  std::optional<user_id> created_by_id;
  std::optional<user_id> last_updated_by_id;
  timestamp created_at;
  timestamp updated_at;
  job_status status = job_status::created;
  std::optional<naive_timestamp> completed_at;
  std::optional<stop_reason> stop_reason_;
  std::optional<json::object> metadata;
  job_type type = job_type::job;
  std::optional<bool> background;
  std::optional<agent_id> agent;
  std::optional<std::string> callback_url;
  std::optional<naive_timestamp> callback_sent_at;
  std::optional<std::int64_t> callback_status_code;
  std::optional<std::string> callback_error;
  std::optional<std::int64_t> ttft_ns;
  std::optional<std::int64_t> total_duration_ns;
  job_id id;
  // -- ours
  org_id organization_id;
  std::vector<run_id> runs; // of a batch, in the order of its requests

  static void write_json(std::string& out, const job& j);
};
BOOST_DESCRIBE_STRUCT(job, (),
                      (created_by_id, last_updated_by_id, created_at, updated_at, status, completed_at,
                       stop_reason_, metadata, type, background, agent, callback_url, callback_sent_at,
                       callback_status_code, callback_error, ttft_ns, total_duration_ns, id, organization_id,
                       runs))

} // namespace troupe
