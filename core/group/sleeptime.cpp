#include "core/group/sleeptime.hpp"

#include "core/turn/failure.hpp"
#include "core/turn/output.hpp"

#include <algorithm>

namespace troupe::sleeptime {

namespace {

constexpr microseconds first_wait = std::chrono::seconds(2);
constexpr microseconds longest_wait = std::chrono::minutes(5);
constexpr std::int64_t most_pauses = 10; // that a trigger is put off for, in times of idle_seconds

bool is_too_much(errc code) {
  return code == errc::llm_rate_limit || code == errc::too_many_requests || code == errc::storage_full ||
         code == errc::unavailable;
}

// 2 s, 8 s, 32 s …, and up to a half of it more, so that many that failed together do not come back together.
microseconds back_off(std::int64_t times, std::uint64_t random) {
  auto wait = first_wait;
  for (std::int64_t i = 1; i < times && wait < longest_wait; ++i) wait *= 4;
  wait = std::min(wait, longest_wait);
  return wait + wait * static_cast<std::int64_t>(random % 1000) / 2000;
}

} // namespace

bool is_complete(run_status status, const std::optional<stop_reason>& reason) {
  if (status == run_status::cancelled) return false;
  return reason == stop_reason::end_turn || reason == stop_reason::max_steps ||
         reason == stop_reason::tool_rule || reason == stop_reason::max_tokens_exceeded;
}

bool count_turn(group& g) {
  auto& every = g.sleeptime_agent_frequency;
  if (!every) return true;
  if (*every <= 0) return false;
  g.turns_counter = (g.turns_counter.value_or(-1) + 1) % *every;
  return *g.turns_counter == 0;
}

std::optional<microseconds> wait_after(tries& t, const error& why, std::uint64_t random) {
  if (is_too_much(why.code)) return back_off(++t.refused, random);
  if (!turn::is_worth_another_try(why) || ++t.failed >= most_tries) return std::nullopt;
  return back_off(t.failed, random);
}

timestamp begins_at(const group& g, timestamp first_trigger, timestamp last_trigger) {
  auto idle_us = std::max<std::int64_t>(g.options.idle_seconds.value_or(0), 0) * 1'000'000;
  return std::min(timestamp{last_trigger.us + idle_us}, timestamp{first_trigger.us + most_pauses * idle_us});
}

json::object result_of(const std::vector<std::shared_ptr<const message>>& said,
                       const std::vector<step>& steps, stop_reason reason, bool text_is_speech) {
  auto shown = said;
  std::erase_if(shown, [](auto& m) { return m->role == message_role::user; });
  turn::finished end{reason, std::nullopt, sum_of(steps)};
  auto& usage = end.usage;
  auto sum = [&](auto member) {
    std::int64_t n = 0;
    for (auto& s : steps) n += (s.*member).value_or(0);
    return n;
  };
  usage.cached_input_tokens = sum(&step::cached_input_tokens);
  usage.cache_write_tokens = sum(&step::cache_write_tokens);
  usage.reasoning_tokens = sum(&step::reasoning_tokens);
  if (text_is_speech && !steps.empty()) usage.context_tokens = steps.back().total_tokens;
  project::options view;
  view.text_is_assistant_message = text_is_speech;
  return json::try_parse(turn::response_body(shown, end, view, std::nullopt))->as_object();
}

} // namespace troupe::sleeptime
