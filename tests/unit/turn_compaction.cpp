// Compaction inside a turn: when it begins, what goes on after it, and what becomes of it when something fails
// (reference: agent-loop §9.2, §9.5).
#define CAF_SUITE turn_compaction
#include "tests/unit/native_turns.hpp"

#include <caf/test/unit_test.hpp>

#include <regex>

using namespace troupe;
using namespace troupe::test;

namespace {

// The words of prompts and packed summaries are not what these cases are about.
std::string brief(const std::string& played) {
  static const std::regex asked(R"(system\(The [\s\S]*?Generate the summary\.\))"),
      packed(R"(user\(\{[\s\S]*?\n\}\))");
  return std::regex_replace(std::regex_replace(played, asked, "for a summary"), packed, "user(summary)");
}

} // namespace

CAF_TEST(a context that is too long is summed up in the middle of a turn) {
  const transcript cases[] = {
      {"a turn that ends near the end of the window", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > near done
        commit: user(hi) assistant(done); step success end_turn
        > committed
        emit: assistant(done)
        model: for a summary;
        > say a summary
        commit: summary, drops 4; run completed end_turn; agent end_turn
        > committed
        emit: user(summary)
        finished end_turn; 1 calls of the model)"},
      {"a step in the middle", R"(
        @tools a
        @user one
        > start
        model: system(be good) user(one) user(hi); a
        > calls c1 a {}
        tools: c1 a {}
        > returned c1 ok fine
        commit: user(hi) assistant[c1 a {}] tool{c1 success fine}; step success; used 1
        > committed
        emit: assistant[c1 a {}] tool{c1 success fine}
        model: for a summary;
        > say a summary
        commit: summary, drops 2
        > committed
        emit: user(summary)
        model: system(be good) user(summary) assistant[c1 a {}] tool{c1 success fine}; a
        > say done
        commit: assistant(done); step success end_turn; run completed end_turn; agent end_turn
        > committed
        emit: assistant(done)
        finished end_turn; 2 calls of the model)"},
      {"too long for the provider", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > say a summary
        commit: summary, drops 2
        > committed
        emit: user(summary)
        model: system(be good) user(summary) user(hi);
        > say done
        commit: user(hi) assistant(done); step success end_turn; run completed end_turn; agent end_turn
        > committed
        emit: assistant(done)
        finished end_turn; 1 calls of the model)"},
      {"too long whatever is left out", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > say a summary
        commit: summary, drops 2
        > committed
        emit: user(summary)
        model: system(be good) user(summary) user(hi);
        > long
        commit:; step failed error; run failed with error
        > committed
        finished failed: too long; 0 calls of the model)"},
      {"the summary after the last step fails", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > near done
        commit: user(hi) assistant(done); step success end_turn
        > committed
        emit: assistant(done)
        model: for a summary;
        > fail
        commit:; run completed end_turn; agent end_turn
        > committed
        finished end_turn; 1 calls of the model)"},
      {"the summary fails", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > fail
        commit:; step failed llm_api_error; run failed with error
        > committed
        finished failed: RATE_LIMIT_EXCEEDED: slow; 0 calls of the model)"},
      {"cancelled while it is summed up", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > cancel
        abandon
        commit:; step cancelled cancelled; run cancelled cancelled; agent cancelled
        > committed
        finished cancelled; 0 calls of the model)"},
      {"cancelled while the summary is stored", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > say a summary
        commit: summary, drops 2
        > cancel
        > committed
        emit: user(summary)
        commit:; step cancelled cancelled; run cancelled cancelled; agent cancelled
        > committed
        finished cancelled; 0 calls of the model)"},
      {"the disk is full", R"(
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long
        model: for a summary;
        > say a summary
        commit: summary, drops 2
        > full
        finished failed: The disk is full, not stored; 0 calls of the model)"},
      {"tokens went out already", R"(
        @mode stream
        @tokens
        @user one
        @user two
        > start
        model: system(be good) user(one) user(two) user(hi);
        > long visible
        commit: started; step failed error; run completed error; agent error
        > committed
        finished failed: too long; 0 calls of the model)"},
  };
  for (auto& c : cases) {
    CAF_MESSAGE(c.name);
    auto d = driver();
    CAF_CHECK_EQUAL(brief(d.play(c.text)), turn_driver::trimmed(c.text));
  }
}
