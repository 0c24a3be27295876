#include "core/schema/job.hpp"

#include "core/json/writer.hpp"

namespace troupe {

void job::write_json(std::string& out, const job& j) {
  json::object_writer(out)
      .add("created_by_id", j.created_by_id)
      .add("last_updated_by_id", j.last_updated_by_id)
      .add("created_at", j.created_at)
      .add("updated_at", j.updated_at)
      .add("status", j.status)
      .add("completed_at", j.completed_at)
      .add("stop_reason", j.stop_reason_)
      .add("metadata", j.metadata)
      .add("job_type", j.type)
      .add("background", j.background)
      .add("agent_id", j.agent)
      .add("callback_url", j.callback_url)
      .add("callback_sent_at", j.callback_sent_at)
      .add("callback_status_code", j.callback_status_code)
      .add("callback_error", j.callback_error)
      .add("ttft_ns", j.ttft_ns)
      .add("total_duration_ns", j.total_duration_ns)
      .add("id", j.id)
      .add("user_id", j.created_by_id);
}

} // namespace troupe
