// Stored messages -> the API's messages. Texts without ids of their own kind are as recorded from the original.
#define CAF_SUITE projection
#include "core/base/text.hpp"
#include "core/project/messages.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

std::string project_one(const message& m, const project::options& o = {}) {
  std::vector<project::api_message> out;
  project::project(out, m, o);
  return project::to_array(out, std::nullopt);
}

// The members that every message begins with, and the rest of it.
std::string shown(std::string_view type, std::string_view otid, std::string_view rest,
                  std::string_view name = "null") {
  std::string out =
      R"({"id":"message-00000000-0000-4000-8000-0000000001ff","date":"2026-11-21T06:24:29+00:00","name":)";
  out.append(name).append(R"(,"message_type":")").append(type).append(R"(","otid":)").append(otid);
  out.append(R"(,"sender_id":null,"step_id":null,"is_err":null,"seq_id":null,"run_id":null,)").append(rest);
  return out + "}";
}
std::string part(int n) {
  const char* digit = "0123456789abcdef";
  return std::string(R"("00000000-0000-4000-8000-00000000018)") + digit[n] + "\"";
}

message sample(message_role role, std::string_view text = {}) {
  auto m = make_message(role, text);
  m.id = id_of<message_id>("message-00000000-0000-4000-8000-0000000001ff");
  return m;
}

tool_return returned(std::string call, return_status status, std::string packed) {
  return {std::move(call), status, std::nullopt, std::nullopt, std::move(packed)};
}
std::string packed(std::string_view status, std::string_view message) {
  return std::string("{\n  \"status\": \"")
      .append(status)
      .append("\",\n  \"message\": ")
      .append(message)
      .append(",\n  \"time\": \"t\"\n}");
}

} // namespace

CAF_TEST(recorded messages) {
  // A reply with reasoning and a call that waits for approval.
  auto asked = make_message(message_role::approval);
  asked.id = id_of<message_id>("message-17e9fb17-32cc-4048-af86-1d9c62bbb4d2");
  asked.created_at = at("2026-11-21T06:24:29.123456Z");
  asked.otid = asked.id.str();
  asked.step = id_of<step_id>("step-42feffb0-f004-42ba-aa42-71287a885244");
  asked.run = id_of<run_id>("run-1050a386-e449-45c0-8d08-c384744ec2d8");
  asked.content.emplace_back(reasoning_content{true, "may I", "sig_bWF5IEk="});
  asked.tool_calls.push_back(
      {"call_123_1", "memory_insert", "{\n  \"label\": \"notes\",\n  \"new_string\": \"with leave\"\n}"});
  CAF_CHECK_EQUAL(
      project_one(asked),
      R"([{"id":"message-17e9fb17-32cc-4048-af86-1d9c62bbb4d2","date":"2026-11-21T06:24:29+00:00","name":null,"message_type":"reasoning_message","otid":"17e9fb17-32cc-4048-af86-1d9c62bbb480","sender_id":null,"step_id":"step-42feffb0-f004-42ba-aa42-71287a885244","is_err":null,"seq_id":null,"run_id":"run-1050a386-e449-45c0-8d08-c384744ec2d8","source":"reasoner_model","reasoning":"may I","signature":"sig_bWF5IEk="},{"id":"message-17e9fb17-32cc-4048-af86-1d9c62bbb4d2","date":"2026-11-21T06:24:29+00:00","name":null,"message_type":"approval_request_message","otid":"message-17e9fb17-32cc-4048-af86-1d9c62bbb4d2","sender_id":null,"step_id":"step-42feffb0-f004-42ba-aa42-71287a885244","is_err":null,"seq_id":null,"run_id":"run-1050a386-e449-45c0-8d08-c384744ec2d8","tool_call":{"name":"memory_insert","arguments":"{\n  \"label\": \"notes\",\n  \"new_string\": \"with leave\"\n}","tool_call_id":"call_123_1"},"tool_calls":[{"name":"memory_insert","arguments":"{\n  \"label\": \"notes\",\n  \"new_string\": \"with leave\"\n}","tool_call_id":"call_123_1"}]}])");
  // Its answer: neither step nor sender show.
  auto answer = make_message(message_role::approval);
  answer.id = id_of<message_id>("message-425c5e99-1460-4f0e-8742-4ae1ef98cd3b");
  answer.created_at = at("2026-11-21T06:24:31Z");
  answer.run = id_of<run_id>("run-7ac8dc31-caeb-4158-9366-7930d269c875");
  answer.step = nth<step_id>(1);
  answer.sender_id = "somebody";
  answer.approvals.push_back({false, "call_125_1", false, "no need", {}});
  CAF_CHECK_EQUAL(
      project_one(answer),
      R"([{"id":"message-425c5e99-1460-4f0e-8742-4ae1ef98cd3b","date":"2026-11-21T06:24:31+00:00","name":null,"message_type":"approval_response_message","otid":null,"sender_id":null,"step_id":null,"is_err":null,"seq_id":null,"run_id":"run-7ac8dc31-caeb-4158-9366-7930d269c875","approvals":[{"type":"approval","tool_call_id":"call_125_1","approve":false,"reason":"no need"}],"approve":false,"approval_request_id":"call_125_1","reason":"no need"}])");
  // Several returns in one message; the top-level members are the first one's.
  auto tool = make_message(message_role::tool);
  tool.id = id_of<message_id>("message-2a05b698-3621-477b-8a77-cb59d56b405c");
  tool.created_at = at("2026-11-21T06:22:01Z");
  tool.name = "core_memory_append";
  tool.step = id_of<step_id>("step-b729386d-d6b4-478d-908f-761f54f4dd8d");
  tool.run = id_of<run_id>("run-d25e1410-88ea-4173-86c5-c54199808956");
  tool.tool_returns.push_back(
      returned("call_1916_1", return_status::error,
               packed("Failed", "\"Error: request to call tool denied. User reason: no paint\"")));
  tool.tool_returns.push_back(
      returned("call_1916_0", return_status::success, packed("OK", "\"the notes so far\\na\"")));
  CAF_CHECK_EQUAL(
      project_one(tool),
      R"([{"id":"message-2a05b698-3621-477b-8a77-cb59d56b405c","date":"2026-11-21T06:22:01+00:00","name":"core_memory_append","message_type":"tool_return_message","otid":"2a05b698-3621-477b-8a77-cb59d56b4000","sender_id":null,"step_id":"step-b729386d-d6b4-478d-908f-761f54f4dd8d","is_err":null,"seq_id":null,"run_id":"run-d25e1410-88ea-4173-86c5-c54199808956","tool_return":"Error: request to call tool denied. User reason: no paint","status":"error","tool_call_id":"call_1916_1","stdout":null,"stderr":null,"tool_returns":[{"type":"tool","tool_return":"Error: request to call tool denied. User reason: no paint","status":"error","tool_call_id":"call_1916_1","stdout":null,"stderr":null},{"type":"tool","tool_return":"the notes so far\na","status":"success","tool_call_id":"call_1916_0","stdout":null,"stderr":null}]}])");
}

CAF_TEST(otids replace the low seven bits of the uuid) {
  auto id = id_of<message_id>("message-01234567-89ab-4def-8123-456789abcdef");
  CAF_CHECK_EQUAL(project::otid(id, 0), "01234567-89ab-4def-8123-456789abcd80");
  CAF_CHECK_EQUAL(project::otid(id, 2), "01234567-89ab-4def-8123-456789abcd82");
  CAF_CHECK_EQUAL(project::otid(id, 127), "01234567-89ab-4def-8123-456789abcdff");
  CAF_CHECK_EQUAL(project::otid(id_of<message_id>("message-01234567-89ab-4def-8123-45678901007f"), 1),
                  "01234567-89ab-4def-8123-456789010001");
}

CAF_TEST(content parts of an assistant message) {
  auto m = sample(message_role::assistant);
  m.content = {text_content{"a", std::nullopt},
               text_content{"b", "sig"},
               reasoning_content{true, "r1", "s1"},
               reasoning_content{true, "r2", "s2"},
               redacted_reasoning_content{"xyz"},
               omitted_reasoning_content{std::nullopt},
               summarized_reasoning_content{"rs_1", {{0, "p"}, {1, "q"}}, "enc"},
               summarized_reasoning_content{"rs_2", {}, std::nullopt},
               other_content{object(R"({"type":"tool_call"})")},
               text_content{"c", std::nullopt}};
  auto text = [](int n, std::string_view s) {
    return shown("assistant_message", part(n), R"("content":")" + std::string(s) + "\"");
  };
  auto reasoning = [](int n, std::string_view rest) { return shown("reasoning_message", part(n), rest); };
  auto hidden = shown("hidden_reasoning_message", part(2), R"("state":"redacted","hidden_reasoning":"xyz")") +
                "," +
                shown("hidden_reasoning_message", part(3), R"("state":"omitted","hidden_reasoning":null)") +
                "," + reasoning(4, R"("source":"reasoner_model","reasoning":"p\n\nq","signature":"enc")");
  CAF_CHECK_EQUAL(project_one(m),
                  "[" + text(0, "ab") + "," +
                      reasoning(1, R"("source":"reasoner_model","reasoning":"r1r2","signature":"s1")") + "," +
                      hidden + "," + text(5, "c") + "]");
  // Where text is no message of the assistant, every text is a reasoning of its own.
  m.content.resize(2);
  project::options as_reasoning;
  as_reasoning.text_is_assistant_message = false;
  CAF_CHECK_EQUAL(
      project_one(m, as_reasoning),
      "[" + reasoning(0, R"("source":"non_reasoner_model","reasoning":"a","signature":null)") + "," +
          reasoning(1, R"("source":"non_reasoner_model","reasoning":"b","signature":null)") + "]");
  as_reasoning.reverse = true;
  CAF_CHECK_EQUAL(
      project_one(m, as_reasoning),
      "[" + reasoning(1, R"("source":"non_reasoner_model","reasoning":"b","signature":null)") + "," +
          reasoning(0, R"("source":"non_reasoner_model","reasoning":"a","signature":null)") + "]");
}

CAF_TEST(calls with and without use_assistant_message) {
  auto m = sample(message_role::assistant, "t");
  m.tool_calls = {{"c1", "a", "{}"},
                  {"c2", "send_message", R"({"message":"hi"})"},
                  {"c3", "b", "{}"},
                  {"c4", "a", "{}"},
                  {"c5", "send_message", R"({"other":1})"},
                  {"c6", "send_message", R"({"message":{"k":[1,true]}})"}};
  auto call = [](std::string_view id, std::string_view name, std::string_view args) {
    return std::string(R"({"name":")")
        .append(name)
        .append(R"(","arguments":")")
        .append(args)
        .append(R"(","tool_call_id":")")
        .append(id)
        .append("\"}");
  };
  auto calls = [&](int n, const std::vector<std::string>& list) {
    return shown("tool_call_message", part(n),
                 "\"tool_call\":" + list[0] + ",\"tool_calls\":[" + text::join(list, ",") + "]");
  };
  auto c1 = call("c1", "a", "{}"), c3 = call("c3", "b", "{}"), c4 = call("c4", "a", "{}");
  auto text = [](int n, std::string_view s) {
    return shown("assistant_message", part(n), R"("content":")" + std::string(s) + "\"");
  };
  CAF_CHECK_EQUAL(project_one(m), "[" + text(0, "t") + "," + calls(1, {c1}) + "," + text(2, "hi") + "," +
                                      calls(3, {c3, c4}) + "," + text(4, R"({\"k\": [1, true]})") + "]");
  project::options plain;
  plain.use_assistant_message = false;
  m.tool_calls.resize(3);
  CAF_CHECK_EQUAL(project_one(m, plain),
                  "[" + text(0, "t") + "," +
                      calls(1, {c1, call("c2", "send_message", R"({\"message\":\"hi\"})"), c3}) + "]");
  project::options named;
  named.assistant_message_tool_name = "a";
  named.assistant_message_tool_kwarg = "x";
  m.tool_calls = {{"c1", "a", R"({"x":"said"})"}};
  m.content.clear();
  CAF_CHECK_EQUAL(project_one(m, named), "[" + text(0, "said") + "]");
}

CAF_TEST(returns that answer a said message are left out of lists) {
  auto said = sample(message_role::assistant), called = said;
  said.tool_calls = {{"c1", "send_message", R"({"message":"hi"})"}};
  called.tool_calls = {{"c2", "a", "{}"}};
  auto answer = [](std::string id) {
    auto m = sample(message_role::tool);
    m.tool_call_id = id;
    m.tool_returns = {returned(id, return_status::success, packed("OK", "\"" + id + "\""))};
    return m;
  };
  auto list = [&](bool use) {
    project::options o;
    o.use_assistant_message = use;
    std::vector<project::stored_message> all;
    for (auto& m : {said, answer("c1"), called, answer("c2")})
      all.push_back(std::make_shared<const message>(m));
    std::string out;
    for (auto& m : project::project_list(all, o)) out += std::string(json::enum_text(m.type)) + " ";
    return out;
  };
  CAF_CHECK_EQUAL(list(true), "assistant_message tool_call_message tool_return_message ");
  CAF_CHECK_EQUAL(list(false),
                  "tool_call_message tool_return_message tool_call_message tool_return_message ");
}

CAF_TEST(tool returns) {
  struct row {
    std::string stored, tool_return, status;
  } rows[] = {
      {packed("OK", R"("text")"), R"("text")", "success"},
      {packed("Failed", R"("text")"), R"("text")", "error"},
      {packed("OK", R"({"a": [1, 2.0, true, null], "b": "it's"})"),
       R"("{'a': [1, 2.0, True, None], 'b': \"it's\"}")", "success"},
      {packed("OK", R"("None")"), R"("None")", "success"},
      {"no packed text", R"("no packed text")", "success"},
  };
  for (auto& r : rows) {
    auto m = sample(message_role::tool);
    m.tool_returns = {
        {"c", return_status::success, std::vector<std::string>{"o"}, std::vector<std::string>{}, r.stored}};
    auto rest = "\"tool_return\":" + r.tool_return + R"(,"status":")" + r.status +
                R"(","tool_call_id":"c","stdout":["o"],"stderr":[])";
    CAF_CHECK_EQUAL(project_one(m), "[" +
                                        shown("tool_return_message", part(0),
                                              rest + R"(,"tool_returns":[{"type":"tool",)" + rest + "}]") +
                                        "]");
  }
  auto m = sample(message_role::tool);
  CAF_CHECK_EQUAL(project_one(m), "[]"); // nothing was returned
  image_content picture{"letta", std::nullopt, nth<file_id>(1), "image/png", "AAAA", std::nullopt};
  m.tool_returns = {{"c", return_status::success, std::nullopt, std::nullopt,
                     std::vector<content_part>{text_content{"a", std::nullopt}, picture}}};
  CAF_CHECK_EQUAL(
      project_one(m),
      "[" +
          shown(
              "tool_return_message", part(0),
              R"("tool_return":"a\n[Image omitted]","status":"success","tool_call_id":"c","stdout":null,"stderr":null,"tool_returns":[{"type":"tool","tool_return":[{"type":"text","text":"a","signature":null},{"type":"image","source":{"type":"letta","file_id":"file-00000000-0000-4000-8000-000000000100","media_type":"image/png","data":"AAAA","detail":null}}],"status":"success","tool_call_id":"c","stdout":null,"stderr":null}])") +
          "]");
}

CAF_TEST(users and the system) {
  struct row {
    message_role role;
    std::string stored, content;
  } rows[] = {
      {message_role::user, "hello", R"("hello")"},
      {message_role::user, R"({"type":"user_message","message":"packed","time":"t"})", R"("packed")"},
      {message_role::user, R"({"type":"user_message","other":"x"})",
       R"("{\"type\":\"user_message\",\"other\":\"x\"}")"},
      {message_role::user, R"({"type":"heartbeat","reason":"r"})",
       R"("{\"type\":\"heartbeat\",\"reason\":\"r\"}")"},
      {message_role::user, "{no json", R"("{no json")"},
      {message_role::summary, R"({"type":"system_alert","message":"m"})",
       R"("{\"type\":\"system_alert\",\"message\":\"m\"}")"},
  };
  for (auto& r : rows) {
    auto m = sample(r.role, r.stored);
    m.otid = "o-1";
    m.name = "Ada";
    CAF_CHECK_EQUAL(project_one(m),
                    "[" + shown("user_message", R"("o-1")", "\"content\":" + r.content, R"("Ada")") + "]");
  }
  auto m = sample(message_role::user, "a");
  m.content.emplace_back(text_content{"b", std::nullopt});
  CAF_CHECK_EQUAL(
      project_one(m),
      "[" +
          shown(
              "user_message", "null",
              R"("content":[{"type":"text","text":"a","signature":null},{"type":"text","text":"b","signature":null}])") +
          "]");
  auto system = sample(message_role::system, "be good");
  system.is_err = true; // a system message never shows it
  CAF_CHECK_EQUAL(project_one(system), "[" + shown("system_message", "null", R"("content":"be good")") + "]");
  auto bad = sample(message_role::user, "a");
  bad.is_err = true;
  CAF_CHECK(project_one(bad).find(R"("is_err":true)") != std::string::npos);
}

CAF_TEST(answers with returns only decide nothing) {
  auto m = sample(message_role::approval);
  m.approvals = {
      {true,
       "c1",
       false,
       std::nullopt,
       {"c1", return_status::error, std::vector<std::string>{"o"}, std::nullopt, "text"}},
      {true,
       "c2",
       false,
       std::nullopt,
       {"c2", return_status::success, std::nullopt, std::nullopt,
        std::vector<content_part>{text_content{"a", std::nullopt}, text_content{"b", std::nullopt}}}}};
  CAF_CHECK_EQUAL(
      project_one(m),
      "[" +
          shown(
              "approval_response_message", "null",
              R"("approvals":[{"type":"tool","tool_return":"text","status":"error","tool_call_id":"c1","stdout":["o"],"stderr":null},{"type":"tool","tool_return":"a\nb","status":"success","tool_call_id":"c2","stdout":null,"stderr":null}],"approve":null,"approval_request_id":null,"reason":null)") +
          "]");
}

CAF_TEST(types that a client wants) {
  std::vector<project::api_message> all{{message_type::user_message, {}, "1"},
                                        {message_type::tool_call_message, {}, "2"},
                                        {message_type::user_message, {}, "3"}};
  CAF_CHECK_EQUAL(project::to_array(all, std::nullopt), "[1,2,3]");
  CAF_CHECK_EQUAL(project::to_array(all, std::vector{message_type::user_message}), "[1,3]");
  CAF_CHECK_EQUAL(project::to_array(all, std::vector<message_type>{}), "[]");
}
