#include "core/turn/stored_stream.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe::turn {

namespace {

void add(std::optional<std::int64_t>& sum, const std::optional<json::object>& details, const char* name) {
  auto* n = details ? details->if_contains(name) : nullptr;
  if (n && n->is_int64()) sum = sum.value_or(0) + n->get_int64();
}

usage_statistics usage_of(const stored_run& from) {
  auto u = sum_of(from.steps);
  for (auto& s : from.steps) {
    add(u.cached_input_tokens, s.prompt_tokens_details, "cached_tokens");
    add(u.cache_write_tokens, s.prompt_tokens_details, "cache_creation_tokens");
    add(u.reasoning_tokens, s.completion_tokens_details, "reasoning_tokens");
    if (is_native_loop(from.type)) u.context_tokens = s.total_tokens;
  }
  return u;
}

// What the turn made; not what it was given.
bool was_emitted(const message& m) {
  return m.role == message_role::assistant || m.role == message_role::tool ||
         (m.role == message_role::approval && !m.tool_calls.empty());
}

project::options view_of(const stored_run& from, const run_request_config& config) {
  project::options o;
  bool native = is_native_loop(from.type);
  o.use_assistant_message = !native && config.use_assistant_message;
  o.text_is_assistant_message = native;
  return o;
}

void add_end(std::vector<frame>& out, const stored_run& from) {
  auto& row = from.row;
  finished f;
  f.reason = row.stop_reason_;
  f.usage = usage_of(from);
  auto* told = row.metadata.if_contains("error");
  if (row.status != run_status::failed || !told || !told->is_object()) {
    auto end = closing_frames(f, row.id, mode::background, true, false);
    out.insert(out.end(), end.begin(), end.end());
    return;
  }
  out.push_back({json::object_text([&](json::object_writer& w) {
    w.add("message_type", "stop_reason").add("stop_reason", row.stop_reason_.value_or(stop_reason::error));
  })});
  out.push_back({json::print(*told), true});
}

} // namespace

std::vector<frame> frames_of(const stored_run& from, bool pings, environment& env) {
  auto config = from.row.request_config.value_or(run_request_config{});
  std::vector<frame> out;
  if (pings) out.push_back({ping(from.row.id, from.row.created_at, env, std::nullopt)});
  auto messages = from.messages;
  std::erase_if(messages, [](auto& m) { return !was_emitted(*m); });
  auto shown = frames_of(messages, view_of(from, config), config.include_return_message_types);
  out.insert(out.end(), shown.begin(), shown.end());
  if (is_terminal(from.row.status)) add_end(out, from);
  return out;
}

} // namespace troupe::turn
