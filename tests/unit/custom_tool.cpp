// What the processes of tools are asked, and what their answers mean.
#define CAF_SUITE custom_tool
#include "core/tools/custom_tool.hpp"

#include "core/tools/packaging.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::tools;

namespace {

std::string shown(const std::optional<std::vector<std::string>>& lines) {
  if (!lines) return "null";
  std::string out = "[";
  for (auto& l : *lines) out += l;
  return out + "]";
}

std::string read(const result<std::string>& answer) {
  auto r = read_run_answer("f", answer).result;
  return std::string(json::enum_text(r.status)) + " " + json::print(r.returned) + " " + shown(r.stdout_) +
         " " + shown(r.stderr_);
}

} // namespace

CAF_TEST(answers of calls) {
  struct {
    const char* answer;
    const char* read;
  } cases[] = {
      {R"({"stdout":"","stderr":"","outcome":{"result":null}})", "success null [] []"},
      {R"({"stdout":"a\n","stderr":"b\n","outcome":{"result":{"x":[1]}}})",
       "success {\"x\":[1]} [a\n] [b\n]"},
      {R"({"stdout":"","stderr":"trace","outcome":{"error":{"type":"KeyError","message":"'k'"}}})",
       R"(error "Error executing function f: KeyError: 'k'" [] [trace])"},
      {R"({"stdout":"","stderr":"trace","outcome":{"error":{"type":"ValueError","message":"x"},"unreadable":true}})",
       R"(error "Error executing function f: ValueError: x" null [trace])"},
      {R"({"stdout":"a","stderr":"","late":true,"status":-15,"outcome":null})",
       R"(error "Error executing function f: TimeoutError: the tool did not end in its time and was stopped" [a] [])"},
      {R"({"stdout":"","stderr":"","too_long":true,"outcome":null})",
       R"(error "Error executing function f: ValueError: the tool returned more than can be kept" [] [])"},
      {R"({"stdout":"","stderr":"","status":-9,"outcome":null})",
       R"(error "Error executing function f: ProcessError: the tool's process was ended by signal 9 before it returned" [] [])"},
      {R"({"stdout":"","stderr":"","status":3,"outcome":null})",
       R"(error "Error executing function f: ProcessError: the tool's process ended with status 3 before it returned" [] [])"},
      {R"({"stdout":"","stderr":"","outcome":{"resu)",
       R"(error "Error executing function f: ProcessError: the tool's process gave an answer that cannot be read" null null)"},
  };
  for (auto& c : cases) CAF_CHECK_EQUAL(read(std::string(c.answer)), c.read);
  CAF_CHECK_EQUAL(read(fail(errc::unavailable, "lost")),
                  R"(error "Error executing function f: ProcessError: lost" null null)");
}

CAF_TEST(long errors are cut) {
  auto answer = R"({"outcome":{"error":{"type":"E","message":")" + std::string(5000, 'x') + R"("}}})";
  auto r = read_run_answer("f", answer).result;
  CAF_CHECK_EQUAL(json::view(r.returned.get_string()).size(), max_error_chars);
}

CAF_TEST(what a call did to the blocks of its agent) {
  auto a = read_run_answer("f", std::string(R"({"outcome":{"result":1,"blocks":{"human":"x","n":3}}})"));
  CAF_REQUIRE_EQUAL(a.blocks.size(), 1u);
  CAF_CHECK_EQUAL(a.blocks[0].label + "=" + a.blocks[0].value, "human=x");
}

CAF_TEST(requests) {
  tool_run r;
  r.name = "f";
  r.source = "def f(): pass";
  r.arguments["x"] = 1;
  r.environment = {{"A", "1"}, {"A", "2"}}; // the later one counts
  CAF_CHECK_EQUAL(
      run_request(r),
      R"({"do":"run","source":"def f(): pass","name":"f","arguments":{"x":1},"environment":{"A":"2"}})");
  CAF_CHECK_EQUAL(schema_request("s", std::nullopt), R"({"do":"schema","source":"s"})");
}

CAF_TEST(the environment of a call) {
  agent a;
  tool t;
  a.secrets.push_back({{}, "KEY", "sesame", {}});
  auto find = [&](const char* name) {
    std::string found = "-";
    for (auto& [k, v] : variables_of(a, t))
      if (k == name) found = v;
    return found;
  };
  CAF_CHECK_EQUAL(find("KEY"), "sesame");
  CAF_CHECK_EQUAL(find("LETTA_AGENT_ID"), a.id.str());
  CAF_CHECK_EQUAL(find("LETTA_PROJECT_ID"), "-");
  a.project_id = "p";
  CAF_CHECK_EQUAL(find("LETTA_PROJECT_ID"), "p");
}

CAF_TEST(schemas and definitions) {
  auto schema = read_schema_answer(std::string(R"({"outcome":{"schema":{"name":"f"}}})"));
  CAF_CHECK(schema && json::print(json::value(*schema)) == R"({"name":"f"})");
  auto refused = read_schema_answer(std::string(R"({"outcome":{"refused":"Schema generation failed: no"}})"));
  CAF_CHECK(refused.has_error() && refused.error().code == errc::invalid_argument);
  CAF_CHECK_EQUAL(refused.error().message, "Failed to derive json schema: Schema generation failed: no");
  CAF_CHECK(read_schema_answer(fail(errc::unavailable, "no Python")).error().code == errc::unavailable);
  CAF_CHECK(read_schema_answer(std::string(R"({"late":true,"outcome":null})")).has_error());
}

CAF_TEST(values that are too long are shown whole with a note) {
  tool_result r;
  r.returned = boost::json::string("0123456789");
  CAF_CHECK_EQUAL(json::print(with_note(r, 10)), R"("0123456789")");
  CAF_CHECK_EQUAL(json::print(with_note(r, 9)), "\"0123456789" + std::string(cut_note) + ": 10 > 9]\"");
}
