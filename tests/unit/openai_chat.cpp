// OpenAI's Chat Completions protocol: what is sent, and what becomes of answers, streams and errors.
#define CAF_SUITE openai_chat
#include "core/protocol/openai_chat.hpp"

#include "core/protocol/sse.hpp"
#include "core/protocol/strict_tools.hpp"
#include "core/turn/failure.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct builder {
  model_request r;
  std::uint64_t n = 0;

  builder() {
    r.config.model = "gpt-4o-mini";
    r.config.context_window = 8000;
    r.user = "user-1";
    add(message_role::system, "be good");
  }
  message& add(message_role role, std::string_view text = {}) {
    auto m = std::make_shared<message>(make_message(role, text));
    m->id = nth<message_id>(++n);
    r.messages.push_back(m);
    return *m;
  }
  message& reply(std::vector<tool_call> calls, message_role role = message_role::assistant) {
    auto& m = add(role);
    m.tool_calls = std::move(calls);
    m.step = nth<step_id>(1);
    return m;
  }
  void answer(std::string call, std::string packed) {
    auto& m = add(message_role::tool);
    m.tool_returns = {{call, return_status::success, std::nullopt, std::nullopt, packed}};
  }
  std::string member(std::string_view name) const {
    auto body = parsed(openai_chat::request_body(r));
    auto* v = json::find(body, name);
    return v ? json::print(*v) : "-";
  }
  std::string messages() const { return member("messages"); }
};

const std::string system_turn = R"({"content":"be good","role":"system"})";

std::string show(const model_reply& r) {
  std::string out;
  for (auto& p : r.content) write_content_part(out, p);
  for (auto& c : r.calls) out += " " + c.id + " " + c.name + " " + c.arguments;
  auto optional = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "-"; };
  out += " " + r.finish_reason.value_or("-") + " " + std::to_string(r.usage.prompt) + "/" +
         std::to_string(r.usage.completion) + "/" + std::to_string(r.usage.total);
  return out + " " + optional(r.usage.cached_input) + "/" + optional(r.usage.reasoning);
}

std::string show(const project::delta& d) {
  using kind = project::delta::kind;
  switch (d.what) {
  case kind::text: return "text(" + d.text + ") ";
  case kind::reasoning: return "think(" + d.text + ") ";
  case kind::hidden_reasoning: return "hidden ";
  case kind::thoughts: return "thoughts(" + d.text + ") ";
  case kind::tool_call: return "call(" + d.call_id + "," + d.call_name + "," + d.text + ") ";
  }
  return {};
}

// A stream of bytes in pieces of this size, through the splitter and the decoder.
std::string stream(std::string_view bytes, std::size_t piece, bool silent = false) {
  openai_chat::stream_decoder decoder(silent);
  sse_splitter splitter;
  std::vector<project::delta> deltas;
  std::string failure;
  auto take = [&](std::string_view, std::string_view data) {
    if (auto r = decoder.feed(data, deltas); !r && failure.empty()) failure = r.error().message;
  };
  for (std::size_t i = 0; i < bytes.size(); i += piece) splitter.feed(bytes.substr(i, piece), take);
  splitter.finish(take);
  std::string out;
  for (auto& d : deltas) out += show(d);
  if (!failure.empty()) return out + "| failed: " + failure;
  auto done = decoder.finish();
  return out + "|" + (done ? show(*done) : " failed: " + done.error().message);
}

} // namespace

CAF_TEST(a small request) {
  builder b;
  b.add(message_role::user, "hi");
  CAF_CHECK_EQUAL(
      openai_chat::request_body(b.r),
      R"({"model":"gpt-4o-mini","messages":[{"content":"be good","role":"system"},{"content":"hi","role":"user"}],"temperature":0.7,"user":"user-1","tools":null,"tool_choice":null})");
  b.r.config.max_tokens = 9;
  b.r.config.frequency_penalty = 0.5;
  b.r.stream = true;
  b.r.tools.push_back({"f", "does f", object(R"({"type":"object","properties":{}})")});
  CAF_CHECK_EQUAL(
      openai_chat::request_body(b.r),
      R"({"model":"gpt-4o-mini","messages":[{"content":"be good","role":"system"},{"content":"hi","role":"user"}],"max_completion_tokens":9,"temperature":0.7,"user":"user-1","frequency_penalty":0.5,"parallel_tool_calls":false,"tools":[{"type":"function","function":{"name":"f","description":"does f","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true}})");
  b.r.choice.what = tool_choice::kind::required;
  CAF_CHECK_EQUAL(b.member("tool_choice"), "\"required\"");
  b.r.choice = {tool_choice::kind::named, "f"};
  CAF_CHECK_EQUAL(b.member("tool_choice"), R"({"type":"function","function":{"name":"f"}})");
  b.r.parallel_tool_calls = true;
  CAF_CHECK_EQUAL(b.member("parallel_tool_calls"), "true");
  b.r.config.model = "gpt-5-mini";
  b.r.config.reasoning_effort = "low";
  CAF_CHECK_EQUAL(b.member("temperature") + b.member("frequency_penalty") + b.member("reasoning_effort"),
                  "1.00.5\"low\"");
}

CAF_TEST(the system message of a request) {
  builder b;
  b.r.system_suffix = "\n\nmore";
  CAF_CHECK_EQUAL(b.messages(), R"([{"content":"be good\n\nmore","role":"system"}])");
  b.r.system_suffix.clear();
  b.r.system_override = "other";
  b.add(message_role::system, "alert");
  CAF_CHECK_EQUAL(b.messages(),
                  R"([{"content":"other","role":"system"},{"content":"alert","role":"system"}])");
}

CAF_TEST(users) {
  builder b;
  auto& m = b.add(message_role::user, "look");
  m.name = "Ada";
  m.content.emplace_back(image_content{"letta", std::nullopt, nth<file_id>(1), "image/jpeg", "QUJD", "low"});
  b.add(message_role::summary, "so far");
  CAF_CHECK_EQUAL(
      b.messages(),
      "[" + system_turn +
          R"(,{"content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,QUJD","detail":"low"}}],"role":"user","name":"Ada"},{"content":"so far","role":"user"}])");
}

CAF_TEST(every call has exactly one return ) {
  auto reply = [](std::string_view calls, std::string_view content = "null") {
    return R"(,{"content":)" + std::string(content) + R"(,"role":"assistant","tool_calls":[)" +
           std::string(calls) + "]}";
  };
  auto call = [](std::string_view id) {
    return R"({"id":")" + std::string(id) +
           R"(","type":"function","function":{"name":"f","arguments":"{}"}})";
  };
  auto tool = [](std::string_view id, std::string_view text) {
    return R"(,{"content":")" + std::string(text) + R"(","role":"tool","tool_call_id":")" + std::string(id) +
           "\"}";
  };
  {
    builder b;
    b.reply({{"c1", "f", "{}"}, {"c2", "f", "{}"}}).content.emplace_back(text_content{"so", std::nullopt});
    b.answer("c1", "one");
    b.answer("c2", "two");
    b.answer("c2", "twice");
    b.answer("c9", "nobody asked");
    CAF_CHECK_EQUAL(b.messages(), "[" + system_turn + reply(call("c1") + "," + call("c2"), "\"so\"") +
                                      tool("c1", "one") + tool("c2", "two") + "]");
  }
  { // a request for approval belongs to the reply before it; answers are not sent
    builder b;
    b.reply({{"c1", "f", "{}"}});
    b.reply({{"c2", "f", "{}"}}, message_role::approval);
    b.add(message_role::approval).approvals = {{false, "c2", true, std::nullopt, {}}};
    b.answer("c2", "two");
    b.answer("c1", "one");
    CAF_CHECK_EQUAL(b.messages(), "[" + system_turn + reply(call("c1") + "," + call("c2")) +
                                      tool("c2", "two") + tool("c1", "one") + "]");
  }
  { // a request that nobody answered, and a call that was lost
    builder b;
    b.reply({{"c1", "f", "{}"}, {"c0", "f", "{}"}});
    b.answer("c1", "one");
    b.reply({{"c2", "f", "{}"}}, message_role::approval);
    CAF_CHECK_EQUAL(b.messages(), "[" + system_turn + reply(call("c1")) + tool("c1", "one") + "]");
  }
  { // ids that begin anew in every reply
    builder b;
    for (auto* text : {"one", "two"}) {
      b.reply({{"call_0", "f", "{}"}});
      b.answer("call_0", text);
    }
    CAF_CHECK_EQUAL(b.messages(), "[" + system_turn + reply(call("call_0")) + tool("call_0", "one") +
                                      reply(call("call_0")) + tool("call_0", "two") + "]");
  }
}

CAF_TEST(long results are cut for the prompt) {
  CAF_CHECK_EQUAL(tool_return_budget(8000), 6400);
  CAF_CHECK_EQUAL(tool_return_budget(100), 5000);
  CAF_CHECK_EQUAL(cut_for_prompt("ééé", 3), "ééé");
  CAF_CHECK_EQUAL(cut_for_prompt("éééé", 3), "ééé... [truncated 1 chars]");
  builder b;
  b.reply({{"c1", "f", "{}"}});
  b.answer("c1", std::string(6401, 'x'));
  CAF_CHECK(b.messages().find("x... [truncated 1 chars]") != std::string::npos);
}

CAF_TEST(whole replies) {
  struct {
    const char* body;
    const char* shown;
  } rows[] = {
      {R"({"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}})",
       R"({"type":"text","text":"hello","signature":null} stop 3/2/5 -/-)"},
      {R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"c2","function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":0}}})",
       R"( c1 f {"x":1} c2 g {} tool_calls 3/2/5 1/0)"},
      {R"({"choices":[{"message":{"reasoning_content":"hm","content":"a"},"finish_reason":"length"}]})",
       R"({"type":"reasoning","is_native":true,"reasoning":"hm","signature":null}{"type":"text","text":"a","signature":null} length 0/0/0 -/-)"},
  };
  for (auto& r : rows) {
    auto reply = openai_chat::parse_reply(r.body);
    CAF_CHECK_EQUAL(reply ? show(*reply) : reply.error().message, r.shown);
  }
  for (auto* broken :
       {"", "no json", "[]", "{}", R"({"choices":[]})", R"({"choices":[{}]})", R"({"choices":7})"}) {
    auto reply = openai_chat::parse_reply(broken);
    CAF_MESSAGE(broken);
    CAF_CHECK(!reply && is_llm_error(reply.error().code));
  }
}

CAF_TEST(streams in pieces of every size) {
  const std::string bytes =
      "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n: a comment\n\n"
      "data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\r\n\r\ndata: "
      "{\"choices\":[{\"delta\":{\"content\":\"h\xc3\xa9\"}}]}\n\ndata: "
      "{\"choices\":[{\"delta\":{\"content\":\"llo\"}}]}\n\n"
      "data: "
      "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"f\","
      "\"arguments\":\"\"}}]}}]}\n\n"
      "data: "
      "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"g\","
      "\"arguments\":\"{\"}},{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\"\"}}]}}]}\n\n"
      "data: "
      "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}},{"
      "\"index\":1,\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
      "data: "
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: "
      "[DONE]\n\n";
  const std::string expected =
      "think(hm) text(h\xc3\xa9) text(llo) call(c1,f,) call(c2,g,{) call(c1,,{\"x\") "
      "call(c1,,:1}) call(c2,,}) |"
      R"({"type":"reasoning","is_native":true,"reasoning":"hm","signature":null}{"type":"text","text":"h)"
      "\xc3\xa9"
      R"(llo","signature":null} c1 f {"x":1} c2 g {} tool_calls 7/2/9 -/-)";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    if (auto got = stream(bytes, piece); got != expected) CAF_FAIL("pieces of " << piece << ": " << got);
  CAF_CHECK_EQUAL(stream(bytes, bytes.size()), expected);
}

CAF_TEST(streams that end otherwise) {
  const std::string stop = R"(data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})"
                           "\n\n";
  const std::string text = R"({"type":"text","text":"a","signature":null} stop 0/0/0 -/-)";
  CAF_CHECK_EQUAL(stream(stop, 7), "text(a) |" + text);                            // no [DONE]
  CAF_CHECK_EQUAL(stream(stop.substr(0, stop.size() - 2), 7), "text(a) |" + text); // not even a blank line
  CAF_CHECK_EQUAL(stream(stop, 7, true),
                  "hidden text(a) |{\"type\":\"omitted_reasoning\",\"signature\":null}" + text);
  CAF_CHECK_EQUAL(
      stream(R"(data: {"choices":[{"delta":{"content":"a"}}]})"
             "\n\n",
             7),
      "text(a) | failed: INTERNAL_SERVER_ERROR: Connection to OpenAI broke off in the middle of a stream");
  CAF_CHECK_EQUAL(stream("", 1), "| failed: INTERNAL_SERVER_ERROR: OpenAI sent an empty stream");
  CAF_CHECK(stream("data: {oops\n\n", 3).starts_with("| failed: INTERNAL_SERVER_ERROR: OpenAI API error: "));
  CAF_CHECK(stream(R"(data: {"error":{"code":429,"message":"slow"}})"
                   "\n\n",
                   3)
                .starts_with("| failed: RATE_LIMIT_EXCEEDED: Rate limited by OpenAI: Error code: 429 - "));
  // An index that no model would send must not allocate.
  CAF_CHECK_EQUAL(
      stream(
          R"(data: {"choices":[{"delta":{"tool_calls":[{"index":2000000000,"id":"c","function":{"name":"f"}}]},"finish_reason":"stop"}]})"
          "\n\n",
          9),
      "| stop 0/0/0 -/-");
}

CAF_TEST(events of a stream) {
  sse_splitter small(10);
  auto none = [](std::string_view, std::string_view) {};
  CAF_CHECK(small.feed("data: 12", none));
  CAF_CHECK(!small.feed("345678901234567890", none)); // beyond the limit
  std::string seen;
  sse_splitter s;
  auto take = [&](std::string_view name, std::string_view data) {
    seen.append(name).append("=").append(data).append(";");
  };
  s.feed("event: error\ndata: a\ndata:b\nid: 7\n\ndata: c\rdata: d\r\r\nevent: lost\n\ndata\n\n", take);
  CAF_CHECK_EQUAL(seen, "error=a\nb;=c\nd;=;");
}

CAF_TEST(errors are told apart) {
  struct {
    int status;
    errc code;
    const char* cls;
    const char* text;
    const char* type;
  } rows[] = {
      {400, errc::llm_bad_request, "LLMBadRequestError",
       "INVALID_ARGUMENT: Bad request to OpenAI-compatible endpoint: ", "llm_bad_request"},
      {401, errc::llm_authentication, "LLMAuthenticationError",
       "UNAUTHENTICATED: Authentication failed with OpenAI: ", "llm_authentication"},
      {402, errc::llm_insufficient_credits, "LLMInsufficientCreditsError",
       "PAYMENT_REQUIRED: Insufficient credits: ", "llm_insufficient_credits"},
      {403, errc::llm_error, "LLMPermissionDeniedError",
       "PERMISSION_DENIED: Permission denied by OpenAI: ", "llm_error"},
      {404, errc::llm_error, "LLMNotFoundError", "NOT_FOUND: Resource not found in OpenAI: ", "llm_error"},
      {408, errc::llm_bad_request, "LLMBadRequestError",
       "INVALID_ARGUMENT: OpenAI API error: ", "llm_bad_request"},
      {418, errc::llm_bad_request, "LLMBadRequestError",
       "INVALID_ARGUMENT: OpenAI API error: ", "llm_bad_request"},
      {422, errc::llm_error, "LLMUnprocessableEntityError",
       "INVALID_ARGUMENT: Invalid request content for OpenAI: ", "llm_error"},
      {429, errc::llm_rate_limit, "LLMRateLimitError",
       "RATE_LIMIT_EXCEEDED: Rate limited by OpenAI: ", "llm_rate_limit"},
      {500, errc::llm_error, "LLMServerError", "INTERNAL_SERVER_ERROR: OpenAI API error: ", "llm_error"},
      {503, errc::llm_error, "LLMServerError", "INTERNAL_SERVER_ERROR: OpenAI API error: ", "llm_error"},
  };
  for (auto& r : rows) {
    auto e = openai_chat::error_for(r.status, R"({"error":{"message":"it's so","code":null}})");
    CAF_CHECK(e.code == r.code);
    CAF_CHECK_EQUAL(std::string(llm_error_class(e)), r.cls);
    CAF_CHECK_EQUAL(e.message, std::string(r.text) + "Error code: " + std::to_string(r.status) +
                                   " - {'error': {'message': \"it's so\", 'code': None}}");
    CAF_CHECK_EQUAL(std::string(turn::llm_error_type(e.code)), r.type);
  }
  for (auto* body : {R"({"error":{"code":"context_length_exceeded"}})",
                     R"({"error":{"message":"This model's maximum context length is 10 tokens"}})"}) {
    CAF_CHECK(openai_chat::error_for(400, body).code == errc::llm_context_window);
    CAF_CHECK(openai_chat::error_for(500, body).code == errc::llm_error);
  }
  CAF_CHECK(openai_chat::error_for(413, "{}").code == errc::llm_context_window);
  CAF_CHECK(openai_chat::error_for(400, R"({"error":"a small context window"})").code ==
            errc::llm_bad_request);
  CAF_CHECK(openai_chat::error_for(403, R"({"error":"can only afford 7"})").code == errc::llm_error);
  CAF_CHECK(openai_chat::error_for(451, R"({"error":"can only afford 7"})").code ==
            errc::llm_insufficient_credits);
  CAF_CHECK(openai_chat::error_for(502, "\xff\xfe").message.ends_with("'(binary)'"));
}

CAF_TEST(an error in the middle of a stream is known by its text) {
  auto code = [](const char* message) {
    openai_chat::stream_decoder d(false);
    std::vector<project::delta> out;
    auto fed = d.feed(R"({"error":{"message":")" + std::string(message) + R"("}})", out);
    return fed ? errc{} : fed.error().code;
  };
  CAF_CHECK(code("Your input exceeds the context window of this model") == errc::llm_context_window);
  CAF_CHECK(code("You exceeded your current quota") == errc::llm_insufficient_credits);
  CAF_CHECK(code("something else") == errc::llm_bad_request);
}

CAF_TEST(a reply without anything is an error) {
  auto reply = openai_chat::parse_reply(
      R"({"id":"r1","model":"m","choices":[{"message":{"content":null},"finish_reason":"stop"}]})");
  CAF_REQUIRE(!reply);
  CAF_CHECK(reply.error().code == errc::llm_empty_response);
  CAF_CHECK(reply.error().message.ends_with("(ID: r1, model: m, finish_reason: stop)"));
  CAF_CHECK(openai_chat::parse_reply(R"({"choices":[{"message":{"content":""}}]})").has_value());
}

CAF_TEST(strict tools) {
  offered_tool t{"f", "",
                 json::try_parse(R"({"type":"object","properties":{
      "a":{"type":"string"},"b":{"type":"integer"},"c":{"anyOf":[{"type":"string"}]},
      "d":{"type":"object","properties":{"x":{"type":"string"}}}},"required":["a"]})")
                     ->get_object(),
                 false};
  CAF_CHECK_EQUAL(
      json::print(json::value(*strictly(t).parameters)),
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]},)"
      R"("c":{"anyOf":[{"type":"string"},{"type":"null"}]},)"
      R"("d":{"type":["object","null"],"properties":{"x":{"type":"string"}},"additionalProperties":false,"required":["x"]}},)"
      R"("required":["a","b","c","d"],"additionalProperties":false})");
  // What they were made from is shared, and stays as it was, also where a copy is changed twice.
  auto copy = strictly(t);
  auto twice = copy;
  copy.parameters.change([](json::object& p) { p["more"] = 1; });
  copy.parameters.change([](json::object& p) { p["more"] = 2; });
  CAF_CHECK_EQUAL(json::int_or(json::value(*copy.parameters), "more", 0), 2);
  CAF_CHECK(!twice.parameters->contains("more"));
  CAF_CHECK(!t.parameters->contains("additionalProperties"));
}

CAF_TEST(models that think without showing it) {
  for (auto* m : {"o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5-mini"})
    CAF_CHECK(openai_chat::is_reasoning_model(m));
  for (auto* m : {"gpt-4o", "llama-3", "omni", "gpt-4.5"}) CAF_CHECK(!openai_chat::is_reasoning_model(m));
}
