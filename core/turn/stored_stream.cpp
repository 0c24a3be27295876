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
  auto& types = config.include_return_message_types;
  for (auto& m : from.shown)
    if (!types || std::find(types->begin(), types->end(), m.type) != types->end()) out.push_back({m.body});
  if (is_terminal(from.row.status)) add_end(out, from);
  return out;
}

} // namespace troupe::turn
