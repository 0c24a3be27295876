// Which tools may be called next (reference: agent-loop §2.6, resources §7).
#define CAF_SUITE tool_rules
#include "core/turn/tool_rules.hpp"

#include "core/base/text.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

const std::vector<std::string> attached{"a", "b", "c", "d"};

turn::tool_rules solver(std::string_view rules, const std::string& called = "") {
  turn::tool_rules out(made<std::vector<tool_rule>>(rules));
  for (char c : called) out.called(std::string(1, c));
  return out;
}

} // namespace

CAF_TEST(allowed tools) {
  struct {
    const char* rules;
    const char* called;
    const char* allowed;
    bool must_call = false;
  } rows[] = {
      {"[]", "", "abcd"},
      {"[]", "ab", "abcd"},
      {R"([{"type":"run_first","tool_name":"b"},{"type":"run_first","tool_name":"a"}])", "", "ba", true},
      {R"([{"type":"run_first","tool_name":"b"}])", "b", "abcd"},
      {R"([{"type":"run_first","tool_name":"nobody"}])", "", "abcd", true},
      {R"([{"type":"constrain_child_tools","tool_name":"a","children":["c","b"]}])", "", "abcd"},
      {R"([{"type":"constrain_child_tools","tool_name":"a","children":["c","b"]}])", "a", "bc", true},
      {R"([{"type":"constrain_child_tools","tool_name":"a","children":["c","b"]}])", "ac", "abcd"},
      {R"([{"type":"constrain_child_tools","tool_name":"a","children":["nobody"]}])", "a", "abcd",
       true}, // nothing left: all
      {R"([{"type":"parent_last_tool","tool_name":"a","children":["b"]}])", "", "acd"},
      {R"([{"type":"parent_last_tool","tool_name":"a","children":["b"]}])", "a", "b", true},
      {R"([{"type":"parent_last_tool","tool_name":"a","children":["b"]}])", "ab", "acd"},
      {R"([{"type":"max_count_per_step","tool_name":"a","max_count_limit":2}])", "a", "abcd"},
      {R"([{"type":"max_count_per_step","tool_name":"a","max_count_limit":2}])", "aba", "bcd"},
      {R"([{"type":"constrain_child_tools","tool_name":"a","children":["b","c"]},{"type":"max_count_per_step","tool_name":"b","max_count_limit":1}])",
       "ba", "c", true},
      {R"([{"type":"exit_loop","tool_name":"a"},{"type":"continue_loop","tool_name":"b"},{"type":"required_before_exit","tool_name":"c"},{"type":"requires_approval","tool_name":"d"}])",
       "a", "abcd"},
  };
  for (auto& r : rows) {
    auto s = solver(r.rules, r.called);
    CAF_MESSAGE(r.rules << " " << r.called);
    CAF_CHECK_EQUAL(text::join(s.allowed(attached, std::nullopt), ""), r.allowed);
    CAF_CHECK_EQUAL(s.must_call(), r.must_call);
  }
}

CAF_TEST(children by the output of the last tool) {
  const char* plain =
      R"([{"type":"conditional","tool_name":"a","child_output_mapping":{"yes":"b","true":"c","3":"d"}}])";
  const char* with_default =
      R"([{"type":"conditional","tool_name":"a","default_child":"d","child_output_mapping":{"yes":"b"}}])";
  const char* strict =
      R"([{"type":"conditional","tool_name":"a","child_output_mapping":{"yes":"b"},"require_output_mapping":true}])";
  struct {
    const char* rules;
    const char* output; // JSON
    const char* allowed;
  } rows[] = {
      {plain, R"("yes")", "b"},
      {plain, R"("Yes")", "abcd"},
      {plain, "true", "c"},
      {plain, R"("true")", "c"},
      {plain, "3", "d"},
      {plain, "3.0", "d"},
      {plain, R"("3.0")", "d"},
      {plain, "4", "abcd"},
      {plain, R"({"yes":1})", "abcd"},
      {with_default, R"("no")", "d"},
      {with_default, R"("yes")", "b"},
      {strict, R"("no")", "abcd"}, // nothing left: all
  };
  for (auto& r : rows) {
    CAF_MESSAGE(r.rules << " " << r.output);
    auto s = solver(r.rules, "a");
    CAF_CHECK_EQUAL(text::join(s.allowed(attached, parsed(r.output)), ""), r.allowed);
    CAF_CHECK(s.must_call());
  }
  CAF_CHECK_EQUAL(text::join(solver(with_default, "a").allowed(attached, std::nullopt), ""), "d");
  CAF_CHECK_EQUAL(text::join(solver(with_default, "ab").allowed(attached, parsed(R"("yes")")), ""), "abcd");
}

CAF_TEST(fixed arguments) {
  const char* rules = R"([{"type":"run_first","tool_name":"a","args":{"x":1,"y":2}},
    {"type":"constrain_child_tools","tool_name":"a","children":["b","c"],"child_arg_nodes":[{"name":"b","args":{"x":3}},{"name":"c"}]},
    {"type":"constrain_child_tools","tool_name":"a","children":["b"],"child_arg_nodes":[{"name":"b","args":{"x":4}}]}])";
  auto fixed = [&](const char* called, const char* tool) {
    return json::print(json::value(solver(rules, called).prefilled(tool, attached).values));
  };
  CAF_CHECK_EQUAL(fixed("", "a"), R"({"x":1,"y":2})");
  CAF_CHECK_EQUAL(fixed("b", "a"), "{}");
  CAF_CHECK_EQUAL(fixed("a", "b"), R"({"x":4})"); // the last rule counts
  CAF_CHECK_EQUAL(fixed("a", "c"), "{}");
  CAF_CHECK_EQUAL(fixed("ac", "b"), "{}");
  auto wrong = [](const char* arguments, const char* schema) {
    return text::join(turn::check_prefilled("t", object(arguments),
                                            object(R"({"properties":{"x":)" + std::string(schema) + "}}")),
                      "; ");
  };
  const std::string unfit = "Invalid value for 'x': ";
  struct {
    const char* value;
    const char* schema;
    bool fits;
  } rows[] = {
      {R"("s")", R"({"type":"string"})", true},
      {"1", R"({"type":"string"})", false},
      {"1", R"({"type":"integer"})", true},
      {"1.5", R"({"type":"integer"})", false},
      {"1", R"({"type":"number"})", true},
      {"true", R"({"type":"boolean"})", true},
      {"1", R"({"type":"boolean"})", false},
      {"[]", R"({"type":"array"})", true},
      {"{}", R"({"type":"object"})", true},
      {"null", R"({"type":"null"})", true},
      {"null", R"({"type":"string"})", false},
      {"null", R"({"type":["string","null"]})", true},
      {"1", R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", true},
      {"[]", R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", false},
      {R"("b")", R"({"enum":["a","b"]})", true},
      {R"("c")", R"({"enum":["a","b"]})", false},
      {"1", R"({"const":1})", true},
      {"2", R"({"const":1})", false},
      {"2", "{}", true},
  };
  for (auto& r : rows)
    CAF_CHECK_EQUAL(
        wrong((R"({"x":)" + std::string(r.value) + "}").c_str(), r.schema).substr(0, unfit.size()),
        r.fits ? "" : unfit);
  CAF_CHECK_EQUAL(wrong(R"({"x":5})", R"({"type":"string"})"),
                  "Invalid value for 'x': 5 does not match expected schema type 'string'.");
  CAF_CHECK_EQUAL(wrong(R"({"z":1})", "{}"), "Unknown argument 'z' for tool 't'.");
}

CAF_TEST(what else rules say of a tool) {
  auto s = solver(
      R"([{"type":"exit_loop","tool_name":"a"},{"type":"continue_loop","tool_name":"b"},{"type":"required_before_exit","tool_name":"c"},
    {"type":"required_before_exit","tool_name":"nobody"},{"type":"requires_approval","tool_name":"d"},{"type":"max_count_per_step","tool_name":"b","max_count_limit":1}])");
  CAF_CHECK(s.ends_turn("a") && !s.ends_turn("b") && s.continues("b") && s.needs_approval("d") &&
            !s.needs_approval("a") && s.has_children("b") && !s.has_children("a"));
  CAF_CHECK_EQUAL(text::join(s.uncalled_required(attached), ","), "c");
  s.called("c");
  CAF_CHECK(s.uncalled_required(attached).empty());
  CAF_CHECK(s.constrains());
  CAF_CHECK(!solver(R"([{"type":"requires_approval","tool_name":"d"}])").constrains());
  CAF_CHECK(!solver("[]").constrains());
  // The sentences of the rules of a refused tool and of the one before it.
  CAF_CHECK_EQUAL(
      text::join(
          solver(
              R"([{"type":"exit_loop","tool_name":"a"},{"type":"max_count_per_step","tool_name":"b","max_count_limit":1},{"type":"exit_loop","tool_name":"d"}])",
              "b")
              .hints("a"),
          "|"),
      "<tool_rule>\nb: at most 1 use(s) per response\n</tool_rule>|<tool_rule>\na ends your response (yields "
      "control) when called\n</tool_rule>");
}
