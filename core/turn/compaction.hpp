// Compaction: old messages of a context become one summary (reference: agent-loop §9). Pure: says what to ask a model,
// takes the replies, gives the new context.
#pragma once

#include "core/base/environment.hpp"
#include "core/turn/types.hpp"

#include <deque>

namespace troupe::turn {

// What a compaction works on.
struct compaction_job {
  compaction_settings settings;
  std::vector<stored_message> context; // the system message first
  llm_config agent_llm;  // of the agent: whose window has to be kept, and the model of the self_ modes
  llm_config summarizer; // of the other modes
  std::vector<offered_tool> tools; // as the agent's own requests have them
  std::string zone;
  std::string user;
  std::optional<std::int64_t> limit; // tokens that the result must stay below
};

// Of this turn, with its models.
compaction_job job_for(const input& in, compaction_settings settings, std::vector<stored_message> context,
                       std::vector<offered_tool> tools);

struct compaction_outcome {
  std::string summary;
  std::vector<stored_message> kept; // without the system message and the summary
  std::vector<message_id> dropped;  // the others of the context
  std::int64_t tokens_after = 0;    // an estimate
  compaction_mode mode = compaction_mode::all;
};

class compactor {
public:
  explicit compactor(compaction_job job);

  // The next request to a model; nothing once there is an outcome.
  std::optional<model_request> next();
  void take(const result<model_reply>& reply);
  // Errors: what the last way of summarising failed of; context_overflow where the system message alone is too long.
  const result<compaction_outcome>& outcome() const { return *outcome_; }

private:
  struct attempt {
    compaction_mode mode;
    std::string prompt;
  };
  std::optional<model_request> request_for(const attempt& a);
  model_request ask_agent(const std::vector<stored_message>& old, const std::string& prompt) const;
  model_request ask_summarizer(const std::vector<stored_message>& old, const std::string& prompt) const;
  void fail_attempt(const error& e);
  void finish(std::string summary);

  compaction_job job_;
  std::vector<message_id> all_; // of the context that was given, without its system message
  std::deque<attempt> attempts_;
  std::vector<stored_message> kept_; // by the present attempt
  int shrunk_ = 0;                   // times that the transcript was cut because it was too long
  error why_;                        // the last failure
  std::optional<result<compaction_outcome>> outcome_;
};

// The first message that a sliding window keeps; nothing where there is none that it may begin with.
std::optional<std::size_t> window_start(const std::vector<stored_message>& context, double percentage,
                                        std::int64_t window);

// Lines of [role] text -> call(arguments). Results of tools are cut to `tool_chars`; 0: not at all.
std::string transcript(const std::vector<stored_message>& messages, std::size_t tool_chars);

struct compaction_stats {
  std::string trigger;
  std::int64_t context_tokens_before = 0;
  std::int64_t context_tokens_after = 0;
  std::int64_t context_window = 0;
  std::int64_t messages_count_before = 0;
  std::int64_t messages_count_after = 0;
};
BOOST_DESCRIBE_STRUCT(compaction_stats, (),
                      (trigger, context_tokens_before, context_tokens_after, context_window,
                       messages_count_before, messages_count_after))

// The text of the message that holds the summary.
std::string packed_summary(const compaction_outcome& o, const std::optional<compaction_stats>& stats,
                           timestamp now, const std::string& zone);

std::int64_t estimate_tokens(const std::vector<stored_message>& messages);

} // namespace troupe::turn
