#include "core/schema/run.hpp"

#include "core/json/writer.hpp"

namespace troupe {

void run::write_api(std::string& out, const run& r, bool in_list) {
  json::object_writer w(out);
  w.add("id", r.id)
      .add("status", r.status)
      .add("created_at", r.created_at)
      .add("completed_at", r.completed_at)
      .add("agent_id", r.agent)
      .add("conversation_id", r.conversation)
      .add("base_template_id", r.base_template_id)
      .add("background", r.background)
      .add("metadata", r.metadata)
      .add("request_config", r.request_config)
      .add("stop_reason", r.stop_reason_)
      .add("callback_url", r.callback_url)
      .add("callback_sent_at", r.callback_sent_at)
      .add("callback_status_code", r.callback_status_code)
      .add("callback_error", r.callback_error)
      .add("ttft_ns", r.ttft_ns);
  if (in_list)
    w.add("total_duration_ns", r.total_duration_ns);
  else
    w.null("total_duration_ns");
}

void run::write_metrics(std::string& out, const run& r) {
  json::object_writer w(out);
  w.add("id", r.id)
      .add("organization_id", r.organization_id)
      .add("agent_id", r.agent)
      .add("project_id", r.project_id)
      .add("run_start_ns", r.created_at.us * 1000)
      .add("run_ns", r.total_duration_ns)
      .add("num_steps", r.steps.size());
  if (r.tools_used.empty())
    w.null("tools_used");
  else
    w.add("tools_used", r.tools_used);
  w.null("template_id").add("base_template_id", r.base_template_id);
}

void step::write_json(std::string& out, const step& s) {
  json::object_writer w(out);
  bool own = false;
  json::for_each_member<step>([&](auto d) {
    auto name = json::json_name(d.name);
    own |= name == "created_at";
    if (own) return;
    if (name == "run" || name == "agent")
      w.add(std::string(name) + "_id", s.*d.pointer);
    else
      w.add(name, s.*d.pointer);
    if (name == "request_id") w.raw("messages", "[]");
  });
}

void step::write_metrics(std::string& out, const step& s) {
  json::object_writer(out)
      .add("id", s.id)
      .add("organization_id", s.organization_id)
      .add("provider_id", s.provider_id)
      .add("run_id", s.run)
      .add("agent_id", s.agent)
      .null("step_start_ns")
      .null("llm_request_start_ns")
      .add("llm_request_ns", s.llm_request_ns)
      .add("tool_execution_ns", s.tool_execution_ns)
      .add("step_ns", s.step_ns)
      .null("base_template_id")
      .null("template_id")
      .add("project_id", s.project_id);
}

usage_statistics sum_of(const std::vector<step>& steps) {
  usage_statistics u;
  for (auto& s : steps) {
    u.completion_tokens += s.completion_tokens;
    u.prompt_tokens += s.prompt_tokens;
    u.total_tokens += s.total_tokens;
    ++u.step_count;
  }
  return u;
}

} // namespace troupe
