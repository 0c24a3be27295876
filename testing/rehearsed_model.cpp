#include "testing/rehearsed_model.hpp"

#include "core/rehearsal/reply.hpp"

#include <stdexcept>

namespace troupe::test {

namespace {

using kind = rehearsal::action::kind;

bool ends(const rehearsal::action& a) { return a.what == kind::hang || a.what == kind::error; }

// Milliseconds until the end of a performance; nothing where it never comes.
std::optional<std::int64_t> length_of(const rehearsal::performance& p) {
  std::int64_t out = 0;
  for (auto& a : p.actions) {
    if (a.what == kind::hang) return std::nullopt;
    if (a.what == kind::delay) out += a.milliseconds;
    if (ends(a)) break;
  }
  return out;
}

} // namespace

rehearsed_model::rehearsed_model(std::string_view script) {
  auto parsed = rehearsal::parse_script(script, "test");
  if (!parsed) throw std::invalid_argument(parsed.error().message);
  script_ = std::move(*parsed);
}

std::optional<result<model_reply>> rehearsed_model::reply_to(const uuid& step, const std::string& body,
                                                             std::int64_t now_ns) {
  auto [it, is_new] = answers_.try_emplace(step);
  auto& [what, due] = it->second;
  if (is_new) {
    what = script_->answer(*json::try_parse(body));
    if (auto ms = length_of(what)) due = now_ns + *ms * 1'000'000;
  }
  if (!due || *due > now_ns) return std::nullopt;
  for (auto& a : what.actions)
    if (ends(a)) return result<model_reply>(rehearsal::failure_of(a));
  return result<model_reply>(rehearsal::reply_of(what, body.size()));
}

} // namespace troupe::test
