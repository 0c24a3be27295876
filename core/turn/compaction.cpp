#include "core/turn/compaction.hpp"

#include "core/base/text.hpp"
#include "core/json/writer.hpp"
#include "core/prompt/system_prompt.hpp"
#include "core/prompt/tokens.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace troupe::turn {

namespace {

constexpr const char* clipped = "... [summary truncated to fit]";
constexpr std::size_t tool_chars_when_long = 5000;

bool slides(compaction_mode mode) {
  return mode == compaction_mode::sliding_window || mode == compaction_mode::self_compact_sliding_window;
}
bool asks_agent(compaction_mode mode) {
  return mode == compaction_mode::self_compact_all || mode == compaction_mode::self_compact_sliding_window;
}

// Modes that are tried one after another.
std::vector<compaction_mode> ways(compaction_mode mode) {
  using enum compaction_mode;
  switch (mode) {
  case all: return {all};
  case sliding_window: return {sliding_window, all};
  case self_compact_all: return {self_compact_all, self_compact_sliding_window, all};
  case self_compact_sliding_window: return {self_compact_sliding_window, all};
  }
  return {all};
}

stored_message plain(message_role role, std::string text) {
  auto m = std::make_shared<message>();
  m->role = role;
  m->content.emplace_back(text_content{std::move(text), std::nullopt});
  return m;
}

// A request for approval at the end stays, with the rest of its reply.
std::size_t protected_from(const std::vector<stored_message>& context) {
  auto n = context.size();
  if (context.back()->role != message_role::approval) return n;
  bool one_reply = n >= 2 && context[n - 2]->role == message_role::assistant &&
                   context[n - 2]->step == context.back()->step;
  return one_reply ? n - 2 : n - 1;
}

// At most `bytes` of it, not ending inside a code point.
std::string_view whole_start(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// As much from the beginning as from the end.
std::string cut_middle(const std::string& text, std::size_t budget) {
  if (text.size() <= budget) return text;
  auto part = budget / 2;
  auto head = whole_start(text, part);
  auto from = text.size() - part;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return std::string(head) + "\n[... middle of the transcript left out ...]\n" + text.substr(from);
}

} // namespace

std::int64_t estimate_tokens(const std::vector<stored_message>& messages) {
  std::int64_t out = 0;
  for (auto& m : messages) {
    std::size_t bytes = 24; // what surrounds a message in a request
    for (auto& p : m->content)
      if (auto* t = std::get_if<text_content>(&p)) bytes += t->text.size();
    for (auto& c : m->tool_calls) bytes += c.name.size() + c.arguments.size() + c.id.size();
    if (m->content.empty())
      for (auto& r : m->tool_returns)
        if (auto* t = std::get_if<std::string>(&r.func_response)) bytes += t->size();
    out += static_cast<std::int64_t>((bytes + 3) / 4);
  }
  return static_cast<std::int64_t>(static_cast<double>(out) * 1.3); // to be on the safe side, as the original
}

std::optional<std::size_t> window_start(const std::vector<stored_message>& context, double percentage,
                                        std::int64_t window) {
  auto n = context.size();
  auto last = context.back()->role == message_role::approval ? n - 2 : n - 1;
  auto goal = (1 - percentage) * static_cast<double>(window);
  auto tokens = static_cast<double>(window);
  std::optional<std::size_t> start;
  auto begins = [](const message& m) { return m.role == message_role::assistant || is_approval_request(m); };
  while (tokens >= goal && percentage < 1.0) {
    percentage += 0.10;
    auto cut = static_cast<std::size_t>(std::nearbyint(percentage * static_cast<double>(n)));
    std::optional<std::size_t> found;
    for (auto i = std::min(cut, n - 1); i >= 1; --i)
      if (begins(*context[i])) {
        found = i;
        break;
      }
    start = found;
    if (!found) continue;
    std::vector<stored_message> rest{context.front()};
    rest.insert(rest.end(), context.begin() + static_cast<std::ptrdiff_t>(*found), context.end());
    tokens = static_cast<double>(estimate_tokens(rest));
  }
  if (!start || percentage >= 1.0 || *start >= last) return std::nullopt;
  return start;
}

std::string transcript(const std::vector<stored_message>& messages, std::size_t tool_chars) {
  std::vector<std::string> lines;
  for (auto& m : messages) {
    if (m->role == message_role::system) continue;
    std::string role = m->role == message_role::tool        ? "tool"
                       : m->role == message_role::assistant ? "assistant"
                       : m->role == message_role::approval  ? "assistant"
                                                            : "MessageRole.user";
    std::string content;
    for (auto& p : m->content)
      if (auto* t = std::get_if<text_content>(&p)) content += (content.empty() ? "" : " ") + t->text;
    if (m->role == message_role::tool && content.empty())
      for (auto& r : m->tool_returns)
        if (auto* t = std::get_if<std::string>(&r.func_response)) content += *t;
    if (m->role == message_role::tool && tool_chars > 0)
      content = cut_for_prompt(content, static_cast<std::int64_t>(tool_chars));
    std::vector<std::string> calls;
    for (auto& c : m->tool_calls) calls.emplace_back(c.name).append("(").append(c.arguments).append(")");
    if (!calls.empty()) content += (content.empty() ? "-> " : " -> ") + text::join(calls, ", ");
    if (!content.empty()) lines.emplace_back("[").append(role).append("] ").append(content);
  }
  return "<start_transcript>\n" + text::join(lines, "\n") + "\n<end_transcript>\n. Generate the summary.";
}

// -- the ways of summarising ----------------------------------------------------------------------
compaction_job job_for(const input& in, compaction_settings settings, std::vector<stored_message> context,
                       std::vector<offered_tool> tools) {
  return {
      .settings = std::move(settings),
      .context = std::move(context),
      .agent_llm = in.llm,
      .summarizer = in.summarizer ? *in.summarizer : in.llm,
      .tools = std::move(tools),
      .zone = in.self.timezone,
      .user = in.acting.user.str(),
      .limit = std::nullopt,
  };
}

compactor::compactor(compaction_job job)
    : job_(std::move(job)), why_(fail(errc::invalid_argument, "There is nothing to summarise")) {
  for (std::size_t i = 1; i < job_.context.size(); ++i) all_.push_back(job_.context[i]->id);
  for (auto mode : ways(job_.settings.mode)) {
    bool first = attempts_.empty();
    auto prompt =
        first && job_.settings.prompt ? *job_.settings.prompt : std::string(prompt::compaction_prompt(mode));
    attempts_.push_back({mode, std::move(prompt)});
  }
}

std::optional<model_request> compactor::next() {
  while (!outcome_) {
    if (attempts_.empty()) {
      outcome_ = why_;
      break;
    }
    if (auto request = request_for(attempts_.front())) return request;
    attempts_.pop_front();
    shrunk_ = 0;
  }
  return std::nullopt;
}

std::optional<model_request> compactor::request_for(const attempt& a) {
  auto& context = job_.context;
  if (context.empty()) return std::nullopt;
  auto from = protected_from(context);
  if (slides(a.mode)) {
    auto start =
        window_start(context, job_.settings.sliding_window_percentage, job_.agent_llm.context_window);
    if (!start) return std::nullopt;
    from = *start;
  }
  auto at = context.begin() + static_cast<std::ptrdiff_t>(from);
  kept_.assign(from > 0 ? at : context.begin() + 1, context.end());
  std::vector<stored_message> old(context.begin(), at);
  return asks_agent(a.mode) ? ask_agent(old, a.prompt) : ask_summarizer(old, a.prompt);
}

// The agent's own request with one more message, so that the provider's cache serves it.
model_request compactor::ask_agent(const std::vector<stored_message>& old, const std::string& prompt) const {
  model_request r;
  r.config = job_.agent_llm;
  r.messages = old;
  if (old.back()->role != message_role::assistant)
    r.messages.push_back(plain(message_role::assistant, "Understood. A summary follows."));
  r.messages.push_back(plain(message_role::user, prompt));
  r.tools = job_.tools;
  r.parallel_tool_calls = job_.agent_llm.parallel_tool_calls.value_or(false);
  r.user = job_.user;
  return r;
}

model_request compactor::ask_summarizer(const std::vector<stored_message>& old,
                                        const std::string& prompt) const {
  auto text = transcript(old, shrunk_ > 0 ? tool_chars_when_long : 0);
  if (shrunk_ > 1) // 60 % of the window, at four bytes a token
    text = cut_middle(text, static_cast<std::size_t>(job_.summarizer.context_window) * 4 * 6 / 10);
  model_request r;
  r.config = job_.summarizer;
  r.config.put_inner_thoughts_in_kwargs = false;
  r.config.enable_reasoner = false;
  r.messages.push_back(plain(message_role::system, prompt));
  if (job_.settings.prompt_acknowledgement)
    r.messages.push_back(plain(message_role::assistant, "Understood. A summary of the transcript follows."));
  r.messages.push_back(plain(message_role::user, std::move(text)));
  r.user = job_.user;
  return r;
}

void compactor::take(const result<model_reply>& reply) {
  if (outcome_ || attempts_.empty()) return;
  if (!reply) return fail_attempt(reply.error());
  std::string summary;
  for (auto& p : reply->content)
    if (auto* t = std::get_if<text_content>(&p)) summary += t->text;
  if (summary.empty()) return fail_attempt(fail(errc::llm_empty_response, "The summary is empty"));
  finish(std::move(summary));
}

void compactor::fail_attempt(const error& e) {
  why_ = e;
  bool too_long = e.code == errc::llm_context_window;
  auto mode = attempts_.front().mode;
  if (too_long && mode == compaction_mode::all && ++shrunk_ <= 2) return; // once more, shorter
  if (too_long && slides(mode)) attempts_.clear(); // everything at once would be longer still
  if (!attempts_.empty()) attempts_.pop_front();
  shrunk_ = 0;
}

namespace {

error system_prompt_too_long(std::int64_t tokens, std::int64_t window) {
  auto has = std::to_string(tokens), fits = std::to_string(window);
  return fail(
      errc::system_prompt_overflow,
      "CONTEXT_WINDOW_EXCEEDED: The system prompt tokens " + has + " exceeds the context window " + fits +
          ". Please reduce the size of your system prompt, memory blocks, or increase the context window. "
          "({'system_prompt_token_estimate': " +
          has + ", 'context_window': " + fits + "})");
}

} // namespace

void compactor::finish(std::string summary) {
  auto limit = job_.settings.clip_chars;
  if (limit && text::length(summary) > static_cast<std::size_t>(*limit))
    summary = std::string(text::prefix(summary, static_cast<std::size_t>(*limit))) + clipped;
  compaction_outcome out;
  out.mode = attempts_.front().mode;
  out.summary = std::move(summary);
  out.kept = kept_;
  out.dropped = all_;
  std::set<message_id> kept;
  for (auto& m : kept_) kept.insert(m->id);
  std::erase_if(out.dropped, [&](auto& id) { return kept.contains(id); });
  std::vector<stored_message> left{job_.context.front()};
  left.insert(left.end(), kept_.begin(), kept_.end());
  out.tokens_after = estimate_tokens(left) + prompt::estimate_tokens(out.summary);
  if (!job_.limit || out.tokens_after < *job_.limit) {
    outcome_ = std::move(out);
    return;
  }
  if (out.mode == compaction_mode::sliding_window) { // what is left is summarised too
    job_.context = std::move(left);
    job_.context.insert(job_.context.begin() + 1, plain(message_role::user, out.summary));
    auto prompt = attempts_.front().prompt;
    attempts_ = {{compaction_mode::all, std::move(prompt)}};
    return;
  }
  if (auto tokens = estimate_tokens({job_.context.front()}); tokens >= job_.agent_llm.context_window) {
    outcome_ = system_prompt_too_long(tokens, job_.agent_llm.context_window);
    return;
  }
  outcome_ = std::move(out); // over the limit still, but it is the best there is
}

// -- the summary's message ------------------------------------------------------------------------
std::string packed_summary(const compaction_outcome& o, const std::optional<compaction_stats>& stats,
                           timestamp now, const std::string& zone) {
  std::string intro =
      "Note: prior messages have been hidden from view due to conversation memory constraints.";
  if (slides(o.mode))
    intro =
        stats
            ? "Note: " + std::to_string(stats->messages_count_before - stats->messages_count_after) +
                  " messages from the beginning of the conversation have been hidden from view due to "
                  "memory constraints."
            : "Note: prior messages from the beginning of the conversation have been hidden from view due to "
              "conversation memory constraints.";
  json::object packed;
  packed["type"] = "system_alert";
  packed["message"] =
      boost::json::string(intro + "\nThe following is a summary of the previous messages:\n " + o.summary);
  packed["time"] = boost::json::string(format_prompt_time(now, zone));
  if (stats) packed["compaction_stats"] = json::to_value(*stats);
  return json::print_packed(json::value(std::move(packed)));
}

} // namespace troupe::turn
