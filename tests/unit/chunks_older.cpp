// Token streams of the older loops: thoughts and what is said come out of the arguments of a call, however they are
// cut (reference: agent-loop §5.3).
#define CAF_SUITE chunks_older
#include "core/base/text.hpp"
#include "core/json/value.hpp"
#include "core/project/chunks.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using project::delta;
using lines = std::vector<std::string>;

namespace {

delta piece(delta::kind what, std::string text, std::string id = {}, std::string name = {}) {
  return {what, std::move(text), std::move(id), std::move(name), {}, {}};
}

// What a client sees, pieces of one kind joined: `T thoughts`, `R reasoning`, `A text`, `N name`, `C arguments`.
class shown {
public:
  explicit shown(project::inner_view view) : stream_(std::move(view)) {}
  void feed(const delta& d) {
    std::vector<delta> out;
    stream_.feed(d, out);
    take(out);
  }
  lines finish() {
    std::vector<delta> out;
    stream_.finish(out);
    take(out);
    return lines_;
  }

private:
  void take(const std::vector<delta>& out) {
    for (auto& d : out) {
      CAF_CHECK(text::is_utf8(d.text));
      std::string mark = d.what == delta::kind::thoughts           ? "T "
                         : d.what == delta::kind::reasoning        ? "R "
                         : d.what == delta::kind::hidden_reasoning ? "H "
                         : d.what == delta::kind::text             ? "A "
                         : d.call_name.empty()                     ? "C "
                                                                   : "N ";
      if (mark == "N ") CAF_CHECK(d.text.empty());
      auto text = mark == "N " ? d.call_name : d.text;
      if (!lines_.empty() && lines_.back().starts_with(mark))
        lines_.back() += text;
      else
        lines_.push_back(mark + text);
    }
  }
  project::inner_stream stream_;
  lines lines_;
};

lines whole(const project::inner_view& view, const std::string& name,
            const std::vector<std::string>& pieces) {
  shown s(view);
  s.feed(piece(delta::kind::tool_call, {}, "c1", name));
  for (auto& p : pieces) s.feed(piece(delta::kind::tool_call, p, "c1"));
  return s.finish();
}

struct row {
  project::inner_view view;
  std::string name, arguments;
  lines seen;
};

const project::inner_view asked{true, "send_message"}, calls_only{true, std::nullopt},
    plain{false, "send_message"};

const std::vector<row> table = {
    {asked, "send_message", R"({"thinking":"I see.","message":"Hello"})", {"T I see.", "A Hello"}},
    {asked,
     "send_message",
     R"( { "thinking" : "a" , "request_heartbeat" : true , "message" : "b" } )",
     {"T a", "A b"}},
    {asked, "send_message", R"({"message":"late","thinking":"thought"})", {"T thought", "A late"}},
    {asked, "send_message", R"({"message":"none"})", {"A none"}},
    {asked, "send_message", R"({"thinking":"","message":"x"})", {"A x"}},
    {asked, "send_message", R"({"thinking":"t","message":{"a":[1,"}"]}})", {"T t", R"(A {"a": [1, "}"]})"}},
    {asked, "send_message", R"({"thinking":"t","message":12})", {"T t", "A 12"}},
    {asked,
     "send_message",
     R"({"thinking":"q\" \\ \n \u00e9 \ud83d\ude00 \ud83d.","message":"grüße 😀"})",
     {"T q\" \\ \n é 😀 .", "A grüße 😀"}},
    {asked, "send_message", R"({"thinking":"only"})", {"T only"}},
    {asked,
     "look",
     R"({"thinking":"t","where":"über\"all","n":-1.5e3,"deep":{"thinking":"x","l":[{}]},"ok":true})",
     {"T t", "N look",
      R"(C {"where": "über\"all", "n": -1.5e3, "deep": {"thinking":"x","l":[{}]}, "ok": true})"}},
    {asked, "look", R"({"a":1,"thinking":"t","b":2})", {"T t", "N look", R"(C {"a": 1, "b": 2})"}},
    {asked, "look", R"({"thinking":"t"})", {"T t", "N look", "C {}"}},
    {asked, "look", "{}", {"N look", "C {}"}},
    {asked, "look", "", {"N look"}},
    {asked, "look", R"({"thinking":7,"a":1})", {"N look", R"(C {"a": 1})"}},
    {asked, "look", R"({"thinking":"t","a":1}{"a":2})", {"T t", "N look", R"(C {"a": 1})"}},
    {calls_only,
     "send_message",
     R"({"thinking":"t","message":"m"})",
     {"T t", "N send_message", R"(C {"message": "m"})"}},
    {plain, "send_message", R"({"message":"m","request_heartbeat":false})", {"A m"}},
    {plain, "look", R"({"thinking":"t","a":"b"})", {"T t", "N look", R"(C {"a": "b"})"}},
    {plain, "look", R"({"a":"b"})", {"N look", R"(C {"a": "b"})"}},
};

} // namespace

CAF_TEST(arguments cut at every byte give the same) {
  for (auto& r : table) {
    CAF_CHECK_EQUAL(whole(r.view, r.name, {r.arguments}), r.seen);
    for (std::size_t at = 0; at <= r.arguments.size(); ++at)
      CAF_CHECK_EQUAL(whole(r.view, r.name, {r.arguments.substr(0, at), r.arguments.substr(at)}), r.seen);
    std::vector<std::string> bytes;
    for (char c : r.arguments) bytes.emplace_back(1, c);
    CAF_CHECK_EQUAL(whole(r.view, r.name, bytes), r.seen);
  }
}

CAF_TEST(thoughts and text are shown as soon as they are known) {
  project::inner_stream s(asked);
  std::vector<delta> out;
  s.feed(piece(delta::kind::tool_call, {}, "c1", "send_message"), out);
  s.feed(piece(delta::kind::tool_call, R"({"thinking":"I)", "c1"), out);
  CAF_REQUIRE_EQUAL(out.size(), 1u);
  CAF_CHECK_EQUAL(out[0].text, "I");
  s.feed(piece(delta::kind::tool_call, R"( see","message":"He)", "c1"), out);
  CAF_REQUIRE_EQUAL(out.size(), 3u);
  CAF_CHECK_EQUAL(out[2].text, "He");
}

CAF_TEST(what is not stored is not shown) {
  shown native(asked); // the model's own reasoning goes before its written thoughts
  native.feed(piece(delta::kind::reasoning, "deep"));
  native.feed(piece(delta::kind::tool_call, R"({"thinking":"t","message":"m"})", "c1", "send_message"));
  CAF_CHECK_EQUAL(native.finish(), (lines{"R deep", "A m"}));
  shown two(asked); // of several calls the first counts
  two.feed(piece(delta::kind::tool_call, R"({"thinking":"t","message":"m"})", "c1", "send_message"));
  two.feed(piece(delta::kind::tool_call, R"({"message":"n"})", "c2", "send_message"));
  CAF_CHECK_EQUAL(two.finish(), (lines{"T t", "A m"}));
  shown beside(asked); // text beside a call with thoughts is dropped, without them it stands for them
  beside.feed(piece(delta::kind::text, "hm"));
  beside.feed(piece(delta::kind::tool_call, R"({"thinking":"t","message":"m"})", "c1", "send_message"));
  CAF_CHECK_EQUAL(beside.finish(), (lines{"T t", "A m"}));
  shown instead(asked);
  instead.feed(piece(delta::kind::text, "hm"));
  instead.feed(piece(delta::kind::tool_call, R"({"message":"m"})", "c1", "send_message"));
  CAF_CHECK_EQUAL(instead.finish(), (lines{"T hm", "A m"}));
}

CAF_TEST(chunks have the places of the stored message) {
  project::chunk_target target{nth<message_id>(1), nth<step_id>(2), nth<run_id>(3), {"gated"}, {}, asked};
  auto all = [&](const std::string& name, const std::string& arguments) {
    project::chunk_projector chunks(target);
    std::string out;
    auto take = [&](const std::vector<std::string>& texts) {
      for (auto& text : texts) {
        auto v = json::try_parse(text).value();
        auto get = [&](const char* key) { return std::string(json::view(v.at(key).as_string())); };
        out += get("message_type") + " " + get("otid").substr(get("otid").size() - 2) + "\n";
      }
    };
    auto now = at("2026-11-21T06:24:29.9Z");
    take(chunks.next(piece(delta::kind::tool_call, {}, "c1", name), now));
    for (char c : arguments) take(chunks.next(piece(delta::kind::tool_call, std::string(1, c), "c1"), now));
    take(chunks.finish(now));
    return out;
  };
  CAF_CHECK_EQUAL(all("send_message", R"({"thinking":"t","message":"m"})"),
                  "reasoning_message 00\nassistant_message 01\n");
  CAF_CHECK_EQUAL(all("look", R"({"thinking":"t"})"),
                  "reasoning_message 00\ntool_call_message 01\ntool_call_message 01\n");
  CAF_CHECK_EQUAL(all("gated", R"({"thinking":"t"})"),
                  "reasoning_message 00\napproval_request_message ff\napproval_request_message ff\n");
}
