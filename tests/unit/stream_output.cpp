// What streams hold: the pieces of a reply, and how a stream ends (reference: agent-loop §5).
#define CAF_SUITE stream_output
#include "core/project/chunks.hpp"
#include "core/turn/output.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

CAF_TEST(the id of a request for approval is that of the reply minus one) {
  CAF_CHECK_EQUAL(
      project::approval_id_for(id_of<message_id>("message-01234567-89ab-4def-8123-456789abc000")).str(),
      "message-01234567-89ab-4def-8123-456789abbfff");
}

CAF_TEST(pieces of a token stream) {
  using project::delta;
  project::chunk_target target{nth<message_id>(1), nth<step_id>(2), nth<run_id>(3), {"gated"}, {}, {}};
  project::chunk_projector chunks(target);
  auto next = [&](delta d) {
    auto out = chunks.next(d, at("2026-11-21T06:24:29.9Z"));
    return out.empty() ? "-" : out.at(0);
  };
  auto head = [](std::string_view type, std::string_view otid,
                 std::string_view id = "message-00000000-0000-4000-8000-000000000100") {
    return std::string(R"({"id":")")
        .append(id)
        .append(R"(","date":"2026-11-21T06:24:29+00:00","name":null,"message_type":")")
        .append(type)
        .append(R"(","otid":")")
        .append(otid)
        .append(
            R"(","sender_id":null,"step_id":"step-00000000-0000-4000-8000-000000000200","is_err":null,"seq_id":null,"run_id":"run-00000000-0000-4000-8000-000000000300",)");
  };
  auto otid = [](int n) { return "00000000-0000-4000-8000-00000000010" + std::to_string(n); };
  CAF_CHECK_EQUAL(next({delta::kind::hidden_reasoning, {}, {}, {}, {}, {}}),
                  head("hidden_reasoning_message", otid(0)) +
                      R"("state":"omitted","hidden_reasoning":null})");
  CAF_CHECK_EQUAL(next({delta::kind::reasoning, "th", {}, {}, {}, {}}),
                  head("reasoning_message", otid(1)) +
                      R"("source":"reasoner_model","reasoning":"th","signature":null})");
  CAF_CHECK_EQUAL(next({delta::kind::text, "He", {}, {}, {}, {}}),
                  head("assistant_message", otid(2)) + R"("content":"He"})");
  CAF_CHECK_EQUAL(next({delta::kind::text, "llo", {}, {}, {}, {}}),
                  head("assistant_message", otid(2)) + R"("content":"llo"})");
  CAF_CHECK_EQUAL(
      next({delta::kind::tool_call, {}, "c1", "f", {}, {}}),
      head("tool_call_message", otid(3)) +
          R"("tool_call":{"name":"f","tool_call_id":"c1"},"tool_calls":{"name":"f","tool_call_id":"c1"}})");
  CAF_CHECK_EQUAL(
      next({delta::kind::tool_call, "{}", "c1", {}, {}, {}}),
      head("tool_call_message", otid(3)) +
          R"("tool_call":{"arguments":"{}","tool_call_id":"c1"},"tool_calls":{"arguments":"{}","tool_call_id":"c1"}})");
  auto waits = "message-00000000-0000-4000-8000-0000000000ff";
  CAF_CHECK_EQUAL(
      next({delta::kind::tool_call, {}, "c2", "gated", {}, {}}),
      head("approval_request_message", waits, waits) +
          R"("tool_call":{"name":"gated","arguments":null,"tool_call_id":"c2"},"tool_calls":{"name":"gated","arguments":null,"tool_call_id":"c2"}})");
  CAF_CHECK_EQUAL(
      next({delta::kind::tool_call, "{", "c2", {}, {}, {}}),
      head("approval_request_message", waits, waits) +
          R"("tool_call":{"name":null,"arguments":"{","tool_call_id":"c2"},"tool_calls":{"name":null,"arguments":"{","tool_call_id":"c2"}})");
  target.types = {message_type::reasoning_message};
  chunks = project::chunk_projector(target);
  CAF_CHECK_EQUAL(next({delta::kind::text, "He", {}, {}, {}, {}}), "-");
  // What is not shown counts all the same.
  CAF_CHECK(next({delta::kind::reasoning, "th", {}, {}, {}, {}}).find(otid(1)) != std::string::npos);
}

CAF_TEST(the end of a stream) {
  auto text = [](const turn::finished& f, turn::mode how, bool visible, bool tokens) {
    std::string out;
    for (auto& frame : turn::closing_frames(f, nth<run_id>(1), how, visible, tokens))
      out += (frame.is_error ? "!" : "") + frame.data + "\n";
    return out;
  };
  turn::finished done;
  done.reason = stop_reason::end_turn;
  done.usage.total_tokens = 3;
  CAF_CHECK_EQUAL(
      text(done, turn::mode::stream, true, false),
      R"({"message_type":"stop_reason","stop_reason":"end_turn"})"
      "\n"
      R"({"message_type":"usage_statistics","completion_tokens":0,"prompt_tokens":0,"total_tokens":3,"step_count":0,"run_ids":null,"cached_input_tokens":null,"cache_write_tokens":null,"reasoning_tokens":null,"context_tokens":null})"
      "\n[DONE]\n");
  done.reason = stop_reason::cancelled;
  CAF_CHECK_EQUAL(text(done, turn::mode::stream, true, false),
                  "{\"message_type\": \"stop_reason\", \"stop_reason\": \"cancelled\"}\n");
  CAF_CHECK_EQUAL(text(done, turn::mode::background, true, false),
                  "{\"message_type\": \"stop_reason\", \"stop_reason\": \"cancelled\"}\n[DONE]\n");
  turn::finished failed;
  failed.failure = llm_failure(errc::llm_rate_limit, "LLMRateLimitError",
                               "RATE_LIMIT_EXCEEDED: Rate limited by Anthropic: x");
  std::string stop = "{\"message_type\":\"stop_reason\",\"stop_reason\":\"llm_api_error\"}\n";
  std::string early =
      R"(!{"message_type":"error_message","run_id":"run-00000000-0000-4000-8000-000000000100","error_type":"llm_rate_limit","message":"Rate limit exceeded for LLM model provider. Please wait before making another request.","detail":"RATE_LIMIT_EXCEEDED: Rate limited by Anthropic: x","seq_id":null})"
      "\n";
  CAF_CHECK_EQUAL(text(failed, turn::mode::stream, false, false), stop + early + "[DONE]\n");
  CAF_CHECK_EQUAL(text(failed, turn::mode::background, false, false), stop + early);
  auto late = text(failed, turn::mode::stream, true, true);
  CAF_CHECK(late.starts_with("{\"message_type\":\"stop_reason\",\"stop_reason\":\"error\"}\n" + stop));
  CAF_CHECK(late.find(R"("error_type":"internal_error")") != std::string::npos);
  CAF_CHECK(late.find("[DONE]") == std::string::npos);
  failed.says_why_late = true; // the older loops: their own reason, then as at the start
  std::string broken = "{\"message_type\":\"stop_reason\",\"stop_reason\":\"error\"}\n";
  CAF_CHECK_EQUAL(text(failed, turn::mode::stream, true, true), broken + stop + stop + early + "[DONE]\n");
  CAF_CHECK_EQUAL(text(failed, turn::mode::background, true, false), stop + stop + early);
}
