#include "core/schema/trace.hpp"

#include "core/json/writer.hpp"

namespace troupe {

void provider_trace::write_json(std::string& out, const provider_trace& t) {
  json::object_writer(out)
      .add("created_by_id", t.user)
      .add("last_updated_by_id", t.user)
      .add("created_at", t.created_at)
      .add("updated_at", t.created_at)
      .add("id", t.id)
      .raw("request_json", t.request)
      .raw("response_json", t.response)
      .add("step_id", t.step)
      .add("agent_id", t.agent)
      .add("agent_tags", t.agent_tags)
      .add("call_type", "agent_step")
      .add("run_id", t.run)
      .null("source")
      .add("org_id", t.organization_id)
      .add("user_id", t.user)
      .null("compaction_settings")
      .add("llm_config", t.config)
      .null("billing_context");
}

} // namespace troupe
