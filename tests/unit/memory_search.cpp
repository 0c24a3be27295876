// What voice agents find again (the tool search_memory), and how far searches of a history read.
#define CAF_SUITE memory_search
#include "core/tools/base_tools.hpp"
#include "core/tools/search_tools.hpp"
#include "storage/tool_searches.hpp"
#include "storage/voice_memories.hpp"
#include "tests/unit/agent_store.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::storage;
using namespace troupe::test;

// Queries are written down by the members that count.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

struct fixture : agent_store {
  agent self = make(1);
  std::uint64_t count = 0;

  timestamp minutes_ago(std::int64_t n) const { return timestamp{env.time.us - n * 60'000'000}; }

  void add(message m, std::int64_t minutes) {
    m.id = nth<message_id>(++count);
    m.agent = self.id;
    m.organization_id = org;
    m.created_at = minutes_ago(minutes);
    CAF_REQUIRE(write([&](transaction& t) {
      append_messages(t, {std::make_shared<const message>(std::move(m))}, nullptr);
    }));
  }
  void heard(std::string_view text, std::int64_t minutes) {
    add(make_message(message_role::user, text), minutes);
  }
  void said(const std::string& text, std::int64_t minutes) {
    auto m = make_message(message_role::assistant, "a thought");
    m.tool_calls = {{"c", "send_message", R"({"message":")" + text + R"("})"}};
    add(std::move(m), minutes);
  }
  void saved(std::string lines, std::string about, std::int64_t minutes) {
    auto at = minutes_ago(minutes);
    CAF_REQUIRE(write([&](transaction& t) {
      save(t, key(table::voice_memories).add(self.id).add(at).add(++count),
           voice_memory{self.id, at, {std::move(lines), std::move(about)}});
    }));
  }

  std::string search(std::string_view arguments, std::string_view said_now = {}) {
    std::vector<input_message> asked;
    if (!said_now.empty())
      asked.emplace_back(message_create{.content = {text_content{std::string(said_now), {}}}});
    auto r = snapshot();
    tools::memory none({});
    tools::tool_context context{self, none, env, searches_of(*r, self.id, &asked)};
    auto result = tools::run_core_tool("search_memory", object(arguments), context);
    CAF_CHECK(result.status == return_status::success);
    return json::python_str(result.returned);
  }
  // The same without layout.
  json::object found(std::string_view arguments, std::string_view said_now = {}) {
    return object(search(arguments, said_now));
  }
  std::string found_in_messages(std::string_view arguments) {
    auto all = found(arguments);
    return json::print(all["convo_keyword_search_results"]);
  }
};

constexpr auto nothing = R"({"convo_keyword_queries":null,"start_minutes_ago":null,"end_minutes_ago":null})";

} // namespace

CAF_TEST_FIXTURE_SCOPE(memory_search_tests, fixture)

CAF_TEST(the result is a text that holds what was saved and the messages with each keyword) {
  saved("user: my dog is <Rex> & old", "A dog.", 90);
  heard("Order 77 is late", 60);
  said("I see order 77.", 59);
  CAF_CHECK_EQUAL(search(R"({"convo_keyword_queries":["order 77","é"]})"), R"({
  "archival_search_results": [
    {
      "timestamp": "2026-11-21 04:54:29+00:00",
      "content": "<memory><messages><message>user: my dog is &lt;Rex&gt; &amp; old</message></messages><context>A dog.</context></memory>"
    }
  ],
  "convo_keyword_search_results": {
    "order 77": [
      "I see order 77.",
      "Order 77 is late"
    ]
  }
})");
  CAF_CHECK_EQUAL(json::print(found(nothing)["archival_search_results"].get_array().size()), "1");
  CAF_CHECK(!found(nothing).contains("convo_keyword_search_results"));
  CAF_CHECK_EQUAL(found_in_messages(R"({"convo_keyword_queries":["nowhere"]})"), "{}");
}

CAF_TEST(five of what was saved are shown and the nearest to what was said last come first) {
  for (auto what : {"tea", "coffee", "the garden", "trains", "a red bicycle", "rain", "bread"})
    saved(std::string("user: ") + what, "It was about this.", 100 - static_cast<std::int64_t>(count));
  auto first = [&](const json::object& all) {
    auto& list = all.at("archival_search_results").get_array();
    CAF_CHECK_EQUAL(list.size(), 5u);
    return std::string(json::string_or(list[0], "content"));
  };
  CAF_CHECK(first(found(nothing, "where is my bicycle?")).find("bicycle") != std::string::npos);
  CAF_CHECK(first(found(nothing)).find("bread") != std::string::npos); // nobody asked: the newest
  CAF_CHECK(first(found(R"({"convo_keyword_queries":["coffee"]})")).find("coffee") != std::string::npos);
  heard("Tell me about my gardens", 0);
  CAF_CHECK(first(found(nothing)).find("garden") != std::string::npos);
}

CAF_TEST(the window holds for both) {
  for (std::int64_t n : {40, 30, 20, 10}) {
    saved("user: memory", std::to_string(n), n);
    heard("word " + std::to_string(n), n);
  }
  auto in = [&](const std::string& start, const std::string& end) {
    auto all = found(R"({"convo_keyword_queries":["word"],"start_minutes_ago":)" + start +
                     R"(,"end_minutes_ago":)" + end + "}");
    return std::to_string(all["archival_search_results"].get_array().size()) + " " +
           json::print(all["convo_keyword_search_results"]);
  };
  CAF_CHECK_EQUAL(in("null", "null"), R"(4 {"word":["word 10","word 20","word 30"]})");
  CAF_CHECK_EQUAL(in("15", "null"), R"(3 {"word":["word 20","word 30","word 40"]})");
  CAF_CHECK_EQUAL(in("null", "15"), R"(1 {"word":["word 10"]})");
  CAF_CHECK_EQUAL(in("20", "30"), R"(2 {"word":["word 20","word 30"]})");
  CAF_CHECK_EQUAL(in("30", "20"), R"(2 {"word":["word 20","word 30"]})");
  CAF_CHECK_EQUAL(in("50", "60"), "0 {}");
  CAF_CHECK_EQUAL(in("9223372036854775807", "-9223372036854775807"), in("null", "null"));
}

CAF_TEST(searches and heartbeats are not found) {
  heard("the word", 9);
  heard(R"({"type":"heartbeat","reason":"the word"})", 8);
  heard(R"({"type":"user_message","message":"a packed word"})", 7);
  auto thought = make_message(message_role::assistant, "I look for the word");
  thought.tool_calls = {{"c", "search_memory", "{}"}};
  for (int n = 0; n < 4; ++n) add(thought, 6);
  add(make_message(message_role::tool, "the word was found"), 5);
  CAF_CHECK_EQUAL(found_in_messages(R"({"convo_keyword_queries":["WORD","WORD",""]})"),
                  R"({"WORD":["a packed word","the word"]})");
}

CAF_TEST(a search reads so many messages of a time and says so) {
  for (std::int64_t n = 40; n > 0; --n) heard("text " + std::to_string(n), n * 60);
  auto r = snapshot();
  auto look = [&](tools::search_query q) {
    auto all = search_history(*r, self.id, q);
    return texts(all.messages) + (all.is_cut ? " ..." : "");
  };
  CAF_CHECK_EQUAL(look({.text = "text 4", .limit = 9}), "text 4,text 40");
  CAF_CHECK_EQUAL(look({.text = "text 4", .limit = 9, .looks_at = 39}), "text 4 ...");
  CAF_CHECK_EQUAL(look({.text = "text 4", .limit = 1, .looks_at = 39}), "text 4");
  CAF_CHECK_EQUAL(look({.text = "text 4", .limit = 0}), "");
  // What is newer than the end costs nothing.
  CAF_CHECK_EQUAL(look({.text = "text 4", .end = minutes_ago(30 * 60), .limit = 9, .looks_at = 13}),
                  "text 40");
  CAF_CHECK_EQUAL(look({.end = minutes_ago(38 * 60), .limit = 9, .looks_at = 5}), "text 38,text 39,text 40");
  CAF_CHECK_EQUAL(look({.start = minutes_ago(2 * 60), .limit = 9, .looks_at = 5}), "text 1,text 2");
  CAF_CHECK_EQUAL(look({.end = minutes_ago(41 * 60), .limit = 9}), "");
  CAF_CHECK_EQUAL(look({.end = minutes_ago(-1), .limit = 2}), "text 1,text 2");
}

CAF_TEST(a search of a conversation that was cut says so) {
  heard("text", 1);
  tools::memory none({});
  tools::tool_context context{self, none, env, {[](auto&) { return tools::search_found({}, true); }}};
  auto result = tools::run_core_tool("conversation_search", object(R"({"query":"x"})"), context);
  CAF_CHECK_EQUAL(
      json::print(result.returned),
      R"({"message":"No results found.","results":[],"note":"Only the newest 20000 messages up to end_date were searched. An earlier end_date searches older ones."})");
}

CAF_TEST_FIXTURE_SCOPE_END()
