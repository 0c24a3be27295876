// What Anthropic's models can do, told by their names: claude-3-7-sonnet-20250219, claude-opus-4-20250514,
// claude-sonnet-4-6.
#include "core/base/text.hpp"
#include "core/protocol/anthropic.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::anthropic {

namespace {

// 3-7 is 307, 4 is 400, 4-5 is 405. Longer numbers are dates.
int version_of(std::string_view model) {
  int numbers[2] = {0, 0};
  int found = 0;
  for (auto& part : text::split(model, '-')) {
    int n = 0;
    auto [end, ec] = std::from_chars(part.data(), part.data() + part.size(), n);
    bool number = ec == std::errc{} && end == part.data() + part.size() && part.size() <= 2;
    if (number && found < 2) numbers[found++] = n;
    if (!number && found > 0) break; // the date, or the family of the older names
  }
  return numbers[0] * 100 + numbers[1];
}

bool is_of(std::string_view model, std::string_view family) {
  return model.starts_with("claude-") && model.find(family) != std::string_view::npos;
}

// Opus 4.5 drops older thoughts by itself unless it is asked to keep them, which spoils the cache.
bool forgets_thoughts(std::string_view model) { return is_of(model, "opus") && version_of(model) == 405; }

} // namespace

bool can_think(std::string_view model) {
  if (!model.starts_with("claude-")) return false;
  return version_of(model) >= (is_of(model, "haiku") ? 405 : 307);
}

bool thinks_adaptively(std::string_view model) {
  return model.starts_with("claude-") && version_of(model) >= 406;
}

bool takes_effort(std::string_view model) {
  return thinks_adaptively(model) || (is_of(model, "opus") && version_of(model) >= 405);
}

bool thinks(const llm_config& c) { return c.enable_reasoner && can_think(c.model); }

bool keeps_thoughts(const llm_config& c) { return thinks(c) && forgets_thoughts(c.model); }

std::string betas(const llm_config& c, bool stream) {
  std::vector<std::string> out;
  if (stream) out.emplace_back("fine-grained-tool-streaming-2025-05-14");
  if (thinks(c))
    out.emplace_back(thinks_adaptively(c.model) ? "adaptive-thinking-2026-01-28"
                                                : "interleaved-thinking-2025-05-14");
  if (c.effort && takes_effort(c.model)) {
    out.emplace_back("effort-2025-11-24");
    if (*c.effort == "max" && thinks_adaptively(c.model)) out.emplace_back("max-effort-2026-01-24");
  }
  if (keeps_thoughts(c)) out.emplace_back("context-management-2025-06-27");
  return text::join(out, ",");
}

} // namespace troupe::anthropic
