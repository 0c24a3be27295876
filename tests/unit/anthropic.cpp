// Anthropic's Messages protocol: what becomes of answers, streams and errors.
#define CAF_SUITE anthropic
#include "core/protocol/anthropic.hpp"

#include "tests/unit/protocol_support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

std::string decoded(std::string_view bytes) {
  anthropic::stream_decoder decoder;
  return stream(decoder, {bytes});
}

std::string event(std::string_view data) { return "event: x\ndata: " + std::string(data) + "\n\n"; }

std::string started(std::string_view usage = R"({"input_tokens":10,"output_tokens":1})") {
  return event(R"({"type":"message_start","message":{"usage":)" + std::string(usage) + "}}");
}
std::string block_start(int index, std::string_view block) {
  return event(R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":)" +
               std::string(block) + "}");
}
std::string block_delta(int index, std::string_view delta) {
  return event(R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":)" +
               std::string(delta) + "}");
}
std::string ended(std::string_view reason = "end_turn", int output = 12) {
  return event(R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) +
               R"("},"usage":{"output_tokens":)" + std::to_string(output) + "}}") +
         event(R"({"type":"message_stop"})");
}

} // namespace

// -- answers ----------------------------------------------------------------------------------------
CAF_TEST(every block of an answer is kept in its order) {
  auto r = anthropic::parse_reply(
      R"({"content":[{"type":"thinking","thinking":"one","signature":"s1"},{"type":"redacted_thinking","data":"dark"},
      {"type":"thinking","thinking":"two","signature":"s2"},{"type":"text","text":""},{"type":"text","text":"said"},
      {"type":"tool_use","id":"t1","name":"look","input":{"at":[1]}},{"type":"tool_use","id":"t2","name":"see","input":{}}],
      "stop_reason":"tool_use","usage":{"input_tokens":10,"cache_creation_input_tokens":8,"cache_read_input_tokens":16,"output_tokens":12}})");
  CAF_REQUIRE(r.has_value());
  CAF_CHECK_EQUAL(show(*r), R"({"type":"reasoning","is_native":true,"reasoning":"one","signature":"s1"})"
                            R"({"type":"redacted_reasoning","data":"dark"})"
                            R"({"type":"reasoning","is_native":true,"reasoning":"two","signature":"s2"})"
                            R"({"type":"text","text":"said","signature":null})"
                            R"( t1 look {"at":[1]} t2 see {} tool_calls 34/12/46 cache 16/8 reasoning -)");
}

CAF_TEST(why an answer ends) {
  std::pair<std::string_view, std::string_view> rows[] = {{R"("end_turn")", "stop"},
                                                          {R"("stop_sequence")", "stop"},
                                                          {R"("max_tokens")", "length"},
                                                          {R"("model_context_window_exceeded")", "length"},
                                                          {R"("tool_use")", "tool_calls"},
                                                          {R"("refusal")", "content_filter"},
                                                          {"null", "-"}};
  for (auto& [given, shown] : rows) {
    auto r = anthropic::parse_reply(R"({"content":[],"stop_reason":)" + std::string(given) + "}");
    CAF_REQUIRE(r.has_value());
    CAF_CHECK_EQUAL(r->finish_reason.value_or("-"), shown);
  }
}

CAF_TEST(answers that are none) {
  for (std::string_view body : {"", "<html>", "[]", "{}", R"({"content":"x"})"})
    CAF_CHECK(!anthropic::parse_reply(body));
}

CAF_TEST(errors by their status) {
  struct row {
    int status;
    std::string_view body, error_class, begins;
    errc code;
  } rows[] = {
      {400, R"({"type":"error"})", "LLMBadRequestError",
       "INTERNAL_SERVER_ERROR: Bad request to Anthropic: Error code: 400 - {'type': 'error'}",
       errc::llm_bad_request},
      {400, R"({"message":"prompt is too long: 9 tokens > 8"})", "ContextWindowExceededError",
       "CONTEXT_WINDOW_EXCEEDED: Context window exceeded for Anthropic: Error code: 400",
       errc::llm_context_window},
      {400, R"({"message":"input length and `max_tokens` exceed context limit"})",
       "ContextWindowExceededError", "CONTEXT_WINDOW_EXCEEDED: ", errc::llm_context_window},
      {401, "{}", "LLMAuthenticationError",
       "INTERNAL_SERVER_ERROR: Authentication failed with Anthropic: Error code: 401 - {}",
       errc::llm_authentication},
      {402, "{}", "LLMInsufficientCreditsError", "PAYMENT_REQUIRED: Insufficient credits: Error code: 402",
       errc::llm_insufficient_credits},
      {403, "{}", "LLMPermissionDeniedError",
       "INTERNAL_SERVER_ERROR: Permission denied by Anthropic: ", errc::llm_error},
      {404, "{}", "LLMNotFoundError",
       "INTERNAL_SERVER_ERROR: Resource not found in Anthropic: ", errc::llm_error},
      {413, "{}", "ContextWindowExceededError", "CONTEXT_WINDOW_EXCEEDED: ", errc::llm_context_window},
      {422, "{}", "LLMUnprocessableEntityError",
       "INTERNAL_SERVER_ERROR: Invalid request content for Anthropic: ", errc::llm_error},
      {429, "{}", "LLMRateLimitError", "RATE_LIMIT_EXCEEDED: Rate limited by Anthropic: Error code: 429 - {}",
       errc::llm_rate_limit},
      {500, "{}", "LLMServerError",
       "INTERNAL_SERVER_ERROR: Anthropic internal server error: Error code: 500 - {}", errc::llm_error},
      {503, "upstream connect error", "LLMServerError",
       "INTERNAL_SERVER_ERROR: Anthropic upstream infrastructure error", errc::llm_error},
      {529, R"({"type":"overloaded_error"})", "LLMProviderOverloaded",
       "INTERNAL_SERVER_ERROR: Anthropic API is overloaded: Error code: 529 - ", errc::llm_overloaded},
      {418, "\xff", "LLMServerError",
       "INTERNAL_SERVER_ERROR: Anthropic API error: Error code: 418 - '(binary)'", errc::llm_error},
  };
  for (auto& row : rows) {
    auto e = anthropic::error_for(row.status, row.body);
    CAF_CHECK_EQUAL(llm_error_class(e), row.error_class);
    CAF_CHECK_EQUAL(e.message.substr(0, row.begins.size()), row.begins);
    CAF_CHECK(e.code == row.code);
  }
}

// -- streams ----------------------------------------------------------------------------------------
CAF_TEST(a stream of everything) {
  auto bytes =
      started(
          R"({"input_tokens":10,"cache_creation_input_tokens":8,"cache_read_input_tokens":16,"output_tokens":1})") +
      event(R"({"type":"ping"})") + block_start(0, R"({"type":"thinking","thinking":"","signature":""})") +
      block_delta(0, R"({"type":"thinking_delta","thinking":"let "})") +
      block_delta(0, R"({"type":"thinking_delta","thinking":"me"})") +
      block_delta(0, R"({"type":"signature_delta","signature":"s1"})") +
      event(R"({"type":"content_block_stop","index":0})") +
      block_start(1, R"({"type":"redacted_thinking","data":"dark"})") +
      block_start(2, R"({"type":"thinking","thinking":"","signature":""})") +
      block_delta(2, R"({"type":"thinking_delta","thinking":"see"})") +
      block_delta(2, R"({"type":"signature_delta","signature":"s2"})") +
      block_start(3, R"({"type":"text","text":""})") +
      block_delta(3, R"({"type":"text_delta","text":"wörter"})") +
      block_start(4, R"({"type":"tool_use","id":"t1","name":"look","input":{}})") +
      block_delta(4, R"({"type":"input_json_delta","partial_json":""})") +
      block_delta(4, R"({"type":"input_json_delta","partial_json":"{\"at\""})") +
      block_delta(4, R"({"type":"input_json_delta","partial_json":": 1}"})") +
      block_start(5, R"({"type":"tool_use","id":"t2","name":"see","input":{}})") +
      event(R"({"type":"something_new"})") + ended("tool_use");
  CAF_CHECK_EQUAL(decoded(bytes),
                  "think(let ) think(me) hidden(dark) think(see,s1) text(wörter) call(t1,look,) "
                  "call(t1,look,{\"at\") call(t1,look,: 1}) call(t2,see,) | "
                  R"({"type":"reasoning","is_native":true,"reasoning":"let me","signature":"s1"})"
                  R"({"type":"redacted_reasoning","data":"dark"})"
                  R"({"type":"reasoning","is_native":true,"reasoning":"see","signature":"s2"})"
                  R"({"type":"text","text":"wörter","signature":null})"
                  R"( t1 look {"at": 1} t2 see {} tool_calls 34/12/46 cache 16/8 reasoning -)");
  CAF_CHECK_EQUAL(differing_cut<anthropic::stream_decoder>(bytes), "");
}

CAF_TEST(parallel calls may come mixed) {
  auto bytes = started() + block_start(0, R"({"type":"tool_use","id":"a","name":"f","input":{}})") +
               block_start(1, R"({"type":"tool_use","id":"b","name":"g","input":{"whole":1}})") +
               block_delta(0, R"({"type":"input_json_delta","partial_json":"{}"})") + ended("tool_use");
  CAF_CHECK_EQUAL(decoded(bytes), "call(a,f,) call(b,g,) call(a,f,{}) |  a f {} b g {\"whole\":1} tool_calls "
                                  "10/12/22 cache -/- reasoning -");
}

CAF_TEST(streams that go wrong) {
  auto begun = started() + block_start(0, R"({"type":"text","text":""})") +
               block_delta(0, R"({"type":"text_delta","text":"first "})");
  struct row {
    std::string bytes, shown;
  } rows[] = {
      {begun + event(R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})") + ended(),
       "text(first ) | LLMProviderOverloaded INTERNAL_SERVER_ERROR: Anthropic API is overloaded: "
       "{'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'busy'}}"},
      {begun + event(R"({"type":"error","error":{"type":"api_error","message":"x"}})"),
       "text(first ) | LLMServerError INTERNAL_SERVER_ERROR: Anthropic API error: {'type': 'error', 'error': "
       "{'type': 'api_error', 'message': 'x'}}"},
      {event(R"({"type":"error","error":{"type":"rate_limit_error","message":"x"}})"),
       "| LLMRateLimitError RATE_LIMIT_EXCEEDED: Rate limited by Anthropic: {'type': 'error', 'error': "
       "{'type': "
       "'rate_limit_error', 'message': 'x'}}"},
      {begun,
       "text(first ) | LLMConnectionError INTERNAL_SERVER_ERROR: Connection to Anthropic broke off in the "
       "middle of a stream"},
      {"", "| LLMConnectionError INTERNAL_SERVER_ERROR: Anthropic sent an empty stream"},
      {begun + event("{"), "text(first ) | LLMServerError INTERNAL_SERVER_ERROR: Anthropic API error: an "
                           "event of the stream is not JSON"},
  };
  for (auto& row : rows) CAF_CHECK_EQUAL(decoded(row.bytes), row.shown);
}

CAF_TEST(events that fit nowhere are passed over) {
  auto bytes = started() + block_delta(7, R"({"type":"text_delta","text":"lost"})") +
               block_start(0, R"({"type":"text","text":"kept"})") +
               block_delta(0, R"({"type":"input_json_delta","partial_json":"{}"})") +
               block_delta(0, R"({"type":"thinking_delta","thinking":"x"})") +
               block_delta(0, R"({"type":"signature_delta","signature":"x"})") +
               block_start(1, R"({"type":"server_tool_use","id":"s"})") +
               event(R"({"type":"content_block_start"})") +
               event(R"({"type":"content_block_delta","index":0})") + ended();
  CAF_CHECK_EQUAL(decoded(bytes), R"(text(kept) | {"type":"text","text":"kept","signature":null})"
                                  " stop 10/12/22 cache -/- reasoning -");
}
