#include "core/turn/output.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

std::string stop_frame(stop_reason reason) {
  std::string out;
  json::object_writer(out).add("message_type", "stop_reason").add("stop_reason", reason);
  return out;
}

} // namespace

std::string ping(const run_id& run, timestamp now, environment& env,
                 const std::optional<std::int64_t>& seq_id) {
  return json::object_text([&](json::object_writer& w) {
    project::write_head(
        w, {"ping-" + env.random_uuid().str(), now, "ping", std::nullopt, std::nullopt, run, seq_id});
  });
}

std::vector<frame> frames_of(const std::vector<stored_message>& messages, const project::options& view,
                             const std::optional<std::vector<message_type>>& types) {
  std::vector<frame> out;
  auto shown = messages;
  std::erase_if(shown, [](auto& m) { return m->role == message_role::user; });
  for (auto& m : project::project_list(shown, view))
    if (!types || std::find(types->begin(), types->end(), m.type) != types->end())
      out.push_back({std::move(m.body)});
  return out;
}

std::string compaction_event(const compaction_stats& stats, const run_id& run,
                             const std::optional<step_id>& step, environment& env) {
  return json::object_text([&](json::object_writer& w) {
    project::write_head(w, {env.random_uuid().str(), env.now(), "event_message", std::nullopt, step, run});
    w.add("event_type", "compaction");
    json::object_writer(w.key("event_data"))
        .add("trigger", stats.trigger)
        .add("context_token_estimate", stats.context_tokens_before)
        .add("context_window", stats.context_window);
  });
}

std::string summary_event(const message& m, const std::string& summary, const compaction_stats& stats) {
  return json::object_text([&](json::object_writer& w) {
    project::write_head(w,
                        {m.id.str(), m.created_at, "summary_message", project::otid(m.id, 0), m.step, m.run});
    w.add("summary", summary).add("compaction_stats", stats);
  });
}

std::string summary_as_user_message(const message& m) {
  auto shown = m;
  shown.step.reset();
  std::vector<project::api_message> out;
  project::project(out, shown, {});
  return out.empty() ? std::string("{}") : std::move(out.front().body);
}

std::vector<frame> closing_frames(const finished& f, const run_id& run, mode how, bool visible, bool tokens) {
  std::vector<frame> out;
  if (f.failure) {
    // A provider's stream that breaks is reported once by the stream itself, then by the loop.
    if (visible && tokens && is_llm_error(f.failure->code)) out.push_back({stop_frame(stop_reason::error)});
    bool late = visible && !f.says_why_late;
    auto shape = shape_of(*f.failure, late);
    if (visible && !late) out.push_back({stop_frame(shape.reason)}); // the loop's own, before the table's
    out.push_back({stop_frame(shape.reason)});
    out.push_back({json::print(json::value(error_message(run, shape))), true});
    if (!late && how != mode::background) out.push_back({"[DONE]"});
    return out;
  }
  auto reason = f.reason.value_or(stop_reason::end_turn);
  if (reason == stop_reason::cancelled) {
    out.push_back({R"({"message_type": "stop_reason", "stop_reason": "cancelled"})"});
    if (how == mode::background) out.push_back({"[DONE]"});
    return out;
  }
  out.push_back({stop_frame(reason)});
  auto usage = f.usage;
  usage.run_ids.reset(); // as clients know it: only a blocking answer names the work that it set off
  out.push_back({json::to_text(usage)});
  out.push_back({"[DONE]"});
  return out;
}

std::string response_body(const std::vector<project::api_message>& messages, const finished& f,
                          const std::optional<std::vector<message_type>>& types) {
  std::string out;
  json::object_writer(out)
      .raw("messages", project::to_array(messages, types && types->empty() ? std::nullopt : types))
      .raw("stop_reason", stop_frame(f.reason.value_or(stop_reason::end_turn)))
      .add("usage", f.usage)
      .null("logprobs")
      .null("turns");
  return out;
}

std::string response_body(const std::vector<stored_message>& messages, const finished& f,
                          const project::options& view,
                          const std::optional<std::vector<message_type>>& types) {
  return response_body(project::project_list(messages, view), f, types);
}

} // namespace troupe::turn
