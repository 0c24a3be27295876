// OpenAI's Responses protocol: what is sent, and what becomes of answers, streams and errors.
#define CAF_SUITE openai_responses
#include "core/protocol/openai_responses.hpp"

#include "tests/unit/protocol_support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

conversation with_gpt5() {
  conversation c("openai", "gpt-5-mini");
  c.r.config.model_endpoint = "https://api.openai.com/v1";
  c.r.config.reasoning_effort = "minimal";
  c.r.config.verbosity = "medium";
  return c;
}

std::string member(const conversation& c, std::string_view name) {
  return member_of(openai_responses::request_body(c.r), name);
}

constexpr std::string_view prompt = R"([{"role":"developer","content":"be good"})";
std::string user_item(std::string_view text) {
  return R"({"role":"user","content":[{"type":"input_text","text":")" + std::string(text) + R"("}]})";
}

std::string decoded(std::string_view bytes) {
  openai_responses::stream_decoder decoder;
  return stream(decoder, {bytes});
}

std::string event(std::string_view data) { return "event: x\ndata: " + std::string(data) + "\n\n"; }

std::string typed(std::string_view type, std::string_view members) {
  return event(R"({"type":"response.)" + std::string(type) + R"(",)" + std::string(members) + "}");
}

const std::string thought_item =
    R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"sealed"})";
const std::string said_item =
    R"({"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hello you"}]})";
const std::string call_item =
    R"({"id":"fc_1","type":"function_call","call_id":"call_1","name":"look","arguments":"{\"at\":1}"})";
const std::string usage =
    R"("usage":{"input_tokens":19,"input_tokens_details":{"cached_tokens":4},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":28})";
const std::string shown_thought =
    R"({"type":"summarized_reasoning","id":"rs_1","summary":[{"index":0,"text":"one"},{"index":1,"text":"two"}],"encrypted_content":"sealed"})";
const std::string shown_text = R"({"type":"text","text":"hello you","signature":null})";

std::string completed(std::string_view output, std::string_view status = "completed",
                      std::string_view more = "") {
  return R"({"object":"response","status":")" + std::string(status) + R"(","output":[)" +
         std::string(output) + "]," + std::string(more) + usage + "}";
}

} // namespace

// -- requests ---------------------------------------------------------------------------------------
CAF_TEST(a request keeps nothing at the provider) {
  auto c = with_gpt5();
  c.user("hi");
  CAF_CHECK_EQUAL(
      openai_responses::request_body(c.r),
      R"({"model":"gpt-5-mini","input":)" + std::string(prompt) + "," + user_item("hi") +
          R"(],"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":4096,)"
          R"("reasoning":{"effort":"minimal","summary":"detailed"},"text":{"verbosity":"medium"},)"
          R"("user":"user-1","parallel_tool_calls":false})");
}

CAF_TEST(what a model is told about how to answer) {
  struct row {
    std::string_view model;
    std::optional<std::string> effort;
    std::string_view sent, tier, reasoning, text, temperature;
  } rows[] = {
      {"gpt-5", "high", R"("gpt-5")", "-", R"({"effort":"high","summary":"detailed"})",
       R"({"verbosity":"medium"})", "-"},
      {"gpt-5.1", "none", R"("gpt-5.1")", "-", "-", R"({"verbosity":"medium"})", "-"},
      {"gpt-5.4-fast", "low", R"("gpt-5.4")", R"("priority")", R"({"effort":"low","summary":"detailed"})",
       R"({"verbosity":"medium"})", "-"},
      {"o3", "medium", R"("o3")", "-", R"({"effort":"medium","summary":"detailed"})", "-", "-"},
      {"o3", std::nullopt, R"("o3")", "-", "-", "-", "-"},
  };
  for (auto& row : rows) {
    auto c = with_gpt5();
    c.r.config.model = row.model;
    c.r.config.reasoning_effort = row.effort;
    CAF_MESSAGE(row.model);
    CAF_CHECK_EQUAL(member(c, "model"), row.sent);
    CAF_CHECK_EQUAL(member(c, "service_tier"), row.tier);
    CAF_CHECK_EQUAL(member(c, "reasoning"), row.reasoning);
    CAF_CHECK_EQUAL(member(c, "text"), row.text);
    CAF_CHECK_EQUAL(member(c, "temperature"), row.temperature);
  }
}

CAF_TEST(formats lie flat) {
  std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"type":"text"})", R"({"verbosity":"medium"})"},
      {R"({"type":"json_object"})", R"({"verbosity":"medium","format":{"type":"json_object"}})"},
      {R"({"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"},"strict":true}})",
       R"({"verbosity":"medium","format":{"name":"n","schema":{"type":"object"},"strict":true,"type":"json_schema"}})"},
  };
  for (auto& [given, shown] : rows) {
    auto c = with_gpt5();
    c.r.response_format = object(given);
    CAF_CHECK_EQUAL(member(c, "text"), shown);
  }
}

CAF_TEST(thoughts go back sealed and in front of what they led to) {
  auto c = with_gpt5();
  c.user("go");
  summarized_reasoning_content thought{"rs_1", {{0, "one"}}, "sealed"};
  auto& m = c.reply({thought, text_content{"I go", std::nullopt}}, {{"call_1", "look", R"({"at": 1})"}});
  c.answer("call_1", "seen");
  std::string thoughts =
      R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"}],"encrypted_content":"sealed"},)";
  std::string rest =
      R"({"role":"assistant","content":"I go"},)"
      R"({"type":"function_call","call_id":"call_1","name":"look","arguments":"{\"at\": 1}","status":"completed"},)"
      R"({"type":"function_call_output","call_id":"call_1","output":"seen"}])";
  auto begin = std::string(prompt) + "," + user_item("go") + ",";
  CAF_CHECK_EQUAL(member(c, "input"), begin + thoughts + rest);
  m.model = "gpt-5"; // somebody else's thoughts
  CAF_CHECK_EQUAL(member(c, "input"), begin + rest);
  m.model = "gpt-5-mini";
  std::get<summarized_reasoning_content>(m.content[0]).encrypted_content.reset();
  CAF_CHECK_EQUAL(member(c, "input"), begin + rest);
}

CAF_TEST(a thought with nothing behind it is left out) {
  auto c = with_gpt5();
  c.user("go");
  c.reply({summarized_reasoning_content{"rs_1", {}, "sealed"}});
  c.user("well?");
  CAF_CHECK_EQUAL(member(c, "input"),
                  std::string(prompt) + "," + user_item("go") + "," + user_item("well?") + "]");
}

CAF_TEST(images and results in parts) {
  auto c = with_gpt5();
  image_content stored{"letta", {}, {}, "image/png", "QUJD", "low"},
      linked{"url", "http://x/y.png", {}, {}, {}, {}};
  c.add(message_role::user).content = {stored, linked};
  c.reply({}, {{"t", "look", "{}"}});
  auto& m = c.add(message_role::tool);
  std::vector<content_part> parts{text_content{"found", std::nullopt}, stored};
  m.tool_returns = {{"t", return_status::success, std::nullopt, std::nullopt, parts}};
  std::string image = R"({"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"low"})";
  CAF_CHECK_EQUAL(
      member(c, "input"),
      std::string(prompt) + R"(,{"role":"user","content":[)" + image +
          R"(,{"type":"input_image","image_url":"http://x/y.png","detail":"auto"}]},)"
          R"({"type":"function_call","call_id":"t","name":"look","arguments":"{}","status":"completed"},)"
          R"({"type":"function_call_output","call_id":"t","output":[{"type":"input_text","text":"found"},)" +
          image + "]}]");
}

CAF_TEST(tools lie flat and are chosen) {
  using kind = tool_choice::kind;
  std::pair<kind, std::string_view> rows[] = {{kind::automatic, R"("auto")"},
                                              {kind::required, R"("required")"},
                                              {kind::none, R"("none")"},
                                              {kind::named, R"({"type":"function","name":"look"})"}};
  for (auto& [what, shown] : rows) {
    auto c = with_gpt5();
    c.offer("look");
    c.r.choice = {what, "look"};
    c.r.parallel_tool_calls = true;
    CAF_CHECK_EQUAL(member(c, "tool_choice"), shown);
    CAF_CHECK_EQUAL(member(c, "parallel_tool_calls"), "true");
    CAF_CHECK_EQUAL(member(c, "tools"), R"([{"type":"function","name":"look","description":"about",)"
                                        R"("parameters":{"type":"object","properties":{}},"strict":false}])");
  }
}

// -- answers ----------------------------------------------------------------------------------------
CAF_TEST(answers) {
  struct row {
    std::string body, shown;
  } rows[] = {
      {completed(thought_item + "," + said_item),
       shown_thought + shown_text + " stop 19/9/28 cache 4/- reasoning 5"},
      {completed(call_item + "," +
                 R"({"type":"function_call","call_id":"call_2","name":"see","arguments":""})"),
       R"( call_1 look {"at":1} call_2 see {} tool_calls 19/9/28 cache 4/- reasoning 5)"},
      {completed(said_item, "incomplete", R"("incomplete_details":{"reason":"max_output_tokens"},)"),
       shown_text + " length 19/9/28 cache 4/- reasoning 5"},
      {completed(said_item, "incomplete", R"("incomplete_details":{"reason":"content_filter"},)"),
       shown_text + " content_filter 19/9/28 cache 4/- reasoning 5"},
      {completed(
           R"({"type":"message","content":[{"type":"refusal","refusal":"no"}]},{"type":"web_search_call"})"),
       R"({"type":"text","text":"no","signature":null} stop 19/9/28 cache 4/- reasoning 5)"},
  };
  for (auto& row : rows) {
    auto r = openai_responses::parse_reply(row.body);
    CAF_REQUIRE(r.has_value());
    CAF_CHECK_EQUAL(show(*r), row.shown);
  }
  for (std::string_view body : {"", "<html>", "[]", "{}", R"({"output":"x"})"})
    CAF_CHECK(!openai_responses::parse_reply(body));
}

CAF_TEST(errors inside an answer) {
  struct row {
    std::string_view error, shown;
    errc code;
  } rows[] = {
      {R"({"code":"rate_limit_exceeded","message":"slow"})",
       "LLMRateLimitError RATE_LIMIT_EXCEEDED: Rate limited by OpenAI: slow", errc::llm_rate_limit},
      {R"({"code":"insufficient_quota","message":"pay"})",
       "LLMInsufficientCreditsError PAYMENT_REQUIRED: Insufficient credits: pay",
       errc::llm_insufficient_credits},
      {R"({"code":"x","message":"Your input exceeds the context window of this model."})",
       "ContextWindowExceededError CONTEXT_WINDOW_EXCEEDED: OpenAI request exceeded the context window: Your "
       "input "
       "exceeds the context window of this model.",
       errc::llm_context_window},
      {R"({"code":"invalid_prompt","message":"bad"})",
       "LLMBadRequestError INVALID_ARGUMENT: OpenAI API error: bad", errc::llm_bad_request},
      {R"({"code":"server_error","message":"oops"})",
       "LLMServerError INTERNAL_SERVER_ERROR: OpenAI API error: oops", errc::llm_error},
  };
  for (auto& row : rows) {
    auto failed = R"({"status":"failed","output":[],"error":)" + std::string(row.error) + "}";
    auto r = openai_responses::parse_reply(failed);
    CAF_REQUIRE(!r);
    CAF_CHECK(r.error().code == row.code);
    CAF_CHECK_EQUAL(show(r.error()), row.shown);
    auto shown = "| " + std::string(row.shown);
    CAF_CHECK_EQUAL(decoded(typed("failed", R"("response":)" + failed)), shown);
    CAF_CHECK_EQUAL(decoded(event(R"({"type":"error","error":)" + std::string(row.error) + "}")), shown);
  }
  CAF_CHECK_EQUAL(decoded(event(R"({"type":"error","code":"server_error","message":"oops"})")),
                  "| LLMServerError INTERNAL_SERVER_ERROR: OpenAI API error: oops");
}

// -- streams ----------------------------------------------------------------------------------------
namespace {

const std::string thinking =
    typed("created", R"("response":{})") +
    typed("output_item.added", R"("output_index":0,"item":{"type":"reasoning","summary":[]})") +
    typed("reasoning_summary_part.added", R"("output_index":0,"summary_index":0,"part":{"text":""})") +
    typed("reasoning_summary_text.delta", R"("output_index":0,"summary_index":0,"delta":"on")") +
    typed("reasoning_summary_text.delta", R"("output_index":0,"summary_index":0,"delta":"e")") +
    typed("reasoning_summary_text.done", R"("output_index":0,"summary_index":0,"text":"one")") +
    typed("reasoning_summary_part.added", R"("output_index":0,"summary_index":1,"part":{"text":""})") +
    typed("reasoning_summary_text.delta", R"("output_index":0,"summary_index":1,"delta":"two")") +
    typed("output_item.done", R"("output_index":0,"item":)" + thought_item);
const std::string saying =
    typed("output_item.added", R"("output_index":1,"item":{"type":"message","content":[]})") +
    typed("output_text.delta", R"("output_index":1,"delta":"hello ")") +
    typed("output_text.delta", R"("output_index":1,"delta":"you")") +
    typed("output_text.done", R"("output_index":1,"text":"hello you")") +
    typed("output_item.done", R"("output_index":1,"item":)" + said_item);
const std::string calling =
    typed(
        "output_item.added",
        R"("output_index":2,"item":{"type":"function_call","call_id":"call_1","name":"look","arguments":""})") +
    typed("function_call_arguments.delta", R"("output_index":2,"delta":"{\"at\"")") +
    typed("function_call_arguments.delta", R"("output_index":2,"delta":":1}")") +
    typed("function_call_arguments.done", R"("output_index":2,"arguments":"{\"at\":1}")") +
    typed("output_item.done", R"("output_index":2,"item":)" + call_item);
const std::string shown_pieces = "think(on) think(e) think(\n\n) think(two) text(hello ) text(you) "
                                 "call(call_1,look,) call(call_1,,{\"at\") call(call_1,,:1}) ";

} // namespace

CAF_TEST(a stream of everything) {
  auto all = thought_item + "," + said_item + "," + call_item;
  auto bytes = thinking + saying + calling + typed("completed", R"("response":)" + completed(all));
  auto shown = shown_pieces + "| " + shown_thought + shown_text +
               R"( call_1 look {"at":1} tool_calls 19/9/28 cache 4/- reasoning 5)";
  CAF_CHECK_EQUAL(decoded(bytes), shown);
  CAF_CHECK_EQUAL(differing_cut<openai_responses::stream_decoder>(bytes), "");
  // Where the last event has no output, that of the stream counts.
  CAF_CHECK_EQUAL(decoded(thinking + saying + calling + typed("completed", R"("response":)" + completed(""))),
                  shown);
}

CAF_TEST(streams that end early) {
  CAF_CHECK_EQUAL(
      decoded(saying +
              typed("incomplete",
                    R"("response":)" + completed(said_item, "incomplete",
                                                 R"("incomplete_details":{"reason":"max_output_tokens"},)"))),
      "text(hello ) text(you) | " + shown_text + " length 19/9/28 cache 4/- reasoning 5");
  CAF_CHECK_EQUAL(decoded(saying),
                  "text(hello ) text(you) | LLMConnectionError INTERNAL_SERVER_ERROR: Connection to "
                  "OpenAI broke off in the middle of a stream");
  CAF_CHECK_EQUAL(decoded(""), "| LLMConnectionError INTERNAL_SERVER_ERROR: OpenAI sent an empty stream");
  CAF_CHECK_EQUAL(decoded(saying + event("{")),
                  "text(hello ) text(you) | LLMServerError INTERNAL_SERVER_ERROR: OpenAI "
                  "API error: an event of the stream is not JSON");
}

CAF_TEST(events that fit nowhere are passed over) {
  CAF_CHECK_EQUAL(decoded(typed("function_call_arguments.delta", R"("output_index":9,"delta":"lost")") +
                          typed("output_item.added", R"("output_index":0)") + typed("queued", R"("x":1)") +
                          "data: [DONE]\n\n" + typed("completed", R"("response":)" + completed(said_item))),
                  "| " + shown_text + " stop 19/9/28 cache 4/- reasoning 5");
}
