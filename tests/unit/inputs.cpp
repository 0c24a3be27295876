// The messages of a request: what they become, and which are refused with which words (reference: agent-loop §2.1,
// §7.2; error texts as recorded).
#define CAF_SUITE inputs
#include "core/turn/inputs.hpp"

#include "core/turn/arguments.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

struct fixture {
  fixture() {
    in.self.id = nth<agent_id>(1);
    in.run = nth<run_id>(1);
    add(make_message(message_role::system, "be good"));
  }
  void add(message m) {
    m.id = nth<message_id>(in.in_context.size() + 1);
    in.in_context.push_back(std::make_shared<const message>(std::move(m)));
  }
  // A request for leave to call c1 and c2.
  void ask() {
    auto m = make_message(message_role::approval);
    m.tool_calls = {{"call_1916_0", "a", "{}"}, {"call_1916_1", "b", "{}"}};
    m.step = nth<step_id>(5);
    add(std::move(m));
  }
  void returned(std::vector<std::string> ids) {
    auto m = make_message(message_role::tool);
    for (auto& id : ids)
      m.tool_returns.push_back({id, return_status::success, std::nullopt, std::nullopt, std::string("{}")});
    add(std::move(m));
  }
  // "answers N items" and the texts of the messages, or the error.
  std::string prepared(std::string_view messages) {
    in.request = made<send_request>(R"({"messages":)" + std::string(messages) + "}");
    last = turn::prepare(in, env);
    if (!last) return "!" + last.error().message;
    std::string out = last->approval ? "answers " + std::to_string(last->approval->approvals.size()) : "";
    for (auto& m : last->messages)
      out.append(out.empty() ? "" : " ")
          .append(json::enum_text(m->role))
          .append("(")
          .append(text_of(*m))
          .append(")");
    return out;
  }

  turn::input in;
  fixed_environment env;
  result<turn::prepared_inputs> last = turn::prepared_inputs{};
};

const std::string yes_to = R"([{"type":"approval","approvals":[)";
std::string yes(std::string_view id) {
  return R"({"type":"approval","tool_call_id":")" + std::string(id) + R"(","approve":true})";
}
std::string given(std::string_view id) {
  return R"({"type":"tool","tool_call_id":")" + std::string(id) +
         R"(","tool_return":"r","status":"success"})";
}

const std::string not_waiting = "!Cannot process approval response: No tool call is currently awaiting "
                                "approval. Please send a regular message to interact with the agent.";
const std::string pending = "!CONFLICT: Cannot send a new message: The agent is waiting for approval on a "
                            "tool call. Please approve or deny the pending request before continuing.";

} // namespace

CAF_TEST_FIXTURE_SCOPE(input_tests, fixture)

CAF_TEST(messages) {
  CAF_CHECK_EQUAL(
      prepared(
          R"([{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},{"role":"assistant","content":"d"}])"),
      "user(a) system(bc) assistant(d)");
  CAF_CHECK_EQUAL(
      prepared(
          R"([{"role":"user","content":"a","name":"n","otid":"o","sender_id":"s","group_id":"g","batch_item_id":"b"}])"),
      "user(a)");
  auto& m = *last->messages[0];
  CAF_CHECK_EQUAL(m.name.value_or("") + m.otid.value_or("") + m.sender_id.value_or("") +
                      m.group.value_or("") + m.batch_item_id.value_or(""),
                  "nosgb");
  CAF_CHECK(m.run == in.run && m.agent == in.self.id && m.created_at == env.time && !m.step);
  // Without an otid they get one, each its own.
  prepared(R"([{"role":"user","content":"a"},{"role":"user","content":"b"}])");
  CAF_CHECK(last->messages[0]->otid && uuid::parse(*last->messages[0]->otid));
  CAF_CHECK(last->messages[0]->otid != last->messages[1]->otid);
}

CAF_TEST(nothing said is refused) {
  for (auto* empty : {R"([{"role":"user","content":""}])", R"([{"role":"user","content":[]}])"}) {
    CAF_CHECK_EQUAL(prepared(empty), "!Message content is empty or invalid");
    CAF_CHECK(last.error().code == errc::invalid_argument);
  }
}

CAF_TEST(images that come as data are kept) {
  prepared(
      R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},{"type":"image","source":{"type":"letta","file_id":"file-00000000-0000-4000-8000-000000000100"}}]}])");
  auto& fresh = std::get<image_content>(last->messages[0]->content[0]);
  auto& known = std::get<image_content>(last->messages[0]->content[1]);
  CAF_CHECK_EQUAL(fresh.source_type, "letta");
  CAF_CHECK(fresh.file_id_ && *fresh.file_id_ != nth<file_id>(1));
  CAF_CHECK(known.file_id_ == nth<file_id>(1));
}

CAF_TEST(answers to a request for approval) {
  ask();
  auto both = yes_to + yes("call_1916_0") + "," + yes("call_1916_1") + "]}";
  struct {
    std::string messages;
    std::string prepared;
  } rows[] = {
      {both + "]", "answers 2"},
      {both + R"(,{"role":"user","content":"and"}])", "answers 2 user(and)"},
      {yes_to + given("call_1916_1") + "," + yes("call_1916_0") + "]}]", "answers 2"},
      {R"([{"type":"tool_return","tool_returns":[{"tool_call_id":"call_1916_0","tool_return":"r","status":"success"},{"tool_call_id":"call_1916_1","tool_return":"r","status":"error"}]}])",
       "answers 2"},
      {yes_to + yes("call_1916_0") + "]}]",
       "!Invalid tool call IDs. Expected '['call_1916_0', 'call_1916_1']', but received '['call_1916_0']'."},
      {yes_to + yes("call_1916_0") + "," + yes("call_1916_1") + "," + yes("call_more") + "]}]",
       "!Invalid tool call IDs. Expected '['call_1916_0', 'call_1916_1']', but received '['call_1916_0', "
       "'call_1916_1', 'call_more']'."},
      {yes_to + "]}]",
       "!Invalid approval response. Approval response message does not contain any approvals."},
      {R"([{"type":"approval"}])",
       "!Invalid approval response. Approval response message does not contain any approvals."},
      {R"([{"type":"tool_return","tool_returns":[]}])",
       "!Invalid approval response. Approval response message does not contain any approvals."},
      {R"([{"role":"user","content":"x"}])", pending},
      {R"([{"role":"user","content":"x"},)" + both.substr(1) + "]", pending},
      {both + "," + both.substr(1) + "]", "answers 2"}, // what follows and is no message is passed over
  };
  for (auto& r : rows) {
    CAF_MESSAGE(r.messages);
    CAF_CHECK_EQUAL(prepared(r.messages), r.prepared);
  }
  prepared(R"([{"role":"user","content":"x"}])");
  auto refusal = last.error();
  CAF_CHECK(refusal.code == errc::pending_approval);
  CAF_CHECK_EQUAL(json::string_or(refusal.extra, "pending_request_id"), nth<message_id>(2).str());
  prepared(both + "]");
  CAF_CHECK(last->approval->step == nth<step_id>(5) && !last->approval->otid);
}

CAF_TEST(the older form for a single call) {
  auto m = make_message(message_role::approval);
  m.tool_calls = {{"call_1140_0", "a", "{}"}};
  add(std::move(m));
  auto id = nth<message_id>(2).str();
  for (auto& named : {id, std::string("call_1140_0")}) {
    CAF_CHECK_EQUAL(prepared(R"([{"type":"approval","approve":false,"reason":"r","approval_request_id":")" +
                             named + "\"}]"),
                    "answers 1");
    CAF_CHECK(turn::is_about(last->approval->approvals[0], in.in_context.back()->tool_calls[0],
                             *in.in_context.back()));
    CAF_CHECK_EQUAL(last->approval->approvals[0].reason.value_or(""), "r");
  }
  CAF_CHECK_EQUAL(prepared(R"([{"type":"approval","approve":true,"approval_request_id":"call_wrong"}])"),
                  "!Invalid tool call IDs. Expected '['call_1140_0']', but received '['call_wrong']'.");
}

CAF_TEST(answers when nothing waits) {
  CAF_CHECK_EQUAL(prepared(yes_to + yes("c1") + "]}]"), not_waiting);
  returned({"c1", "c2"});
  auto both = yes_to + yes("c2") + "," + given("c1") + "]}";
  // It was processed before: the same answer again goes on, with what else the request says or a sign of life.
  CAF_CHECK_EQUAL(prepared(both + R"(,{"role":"user","content":"and"}])"), "user(and)");
  CAF_CHECK(prepared(both + "]").find("keep-alive") != std::string::npos);
  CAF_CHECK(last->messages.size() == 1 && last->messages[0]->role == message_role::user &&
            last->messages[0]->otid);
  CAF_CHECK_EQUAL(prepared(yes_to + yes("c1") + "]}]"), not_waiting); // only a part of it
  CAF_CHECK_EQUAL(prepared(yes_to + "]}]"), not_waiting);
  for (int i = 0; i < 9; ++i) add(make_message(message_role::user, "x"));
  CAF_CHECK(prepared(both + "]").find("keep-alive") != std::string::npos);
  add(make_message(message_role::user, "x"));
  CAF_CHECK_EQUAL(prepared(both + "]"), not_waiting); // eleven messages ago
}

CAF_TEST(arguments of calls) {
  struct {
    const char* text;
    const char* object;
  } rows[] = {{R"({"x":1})", R"({"x":1})"},
              {R"({"x":1}{"y":2})", R"({"x":1})"},
              {R"({"x":"}{"}{"y":2})", R"({"x":"}{"})"},
              {R"("{\"x\":1}")", R"({"x":1})"},
              {R"({"x":1,"request_heartbeat":true,"thinking":"t"})", R"({"x":1})"},
              {"[1]", "{}"},
              {"null", "{}"},
              {"", "{}"},
              {R"({"x":)", "{}"}};
  for (auto& r : rows) CAF_CHECK_EQUAL(json::print(json::value(turn::parse_arguments(r.text))), r.object);
}

CAF_TEST_FIXTURE_SCOPE_END()
