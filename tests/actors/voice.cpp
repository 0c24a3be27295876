// The context of a voice agent stays short: what leaves it was saved before (reference: groups §2.5).
#define CAF_SUITE voice
#include "core/agents/create.hpp"
#include "storage/setup.hpp"
#include "storage/tools.hpp"
#include "storage/voice_memories.hpp"
#include "tests/actors/sleeptime_house.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

tool_call call_of_tool(std::string id, std::string name, std::string arguments) {
  return {std::move(id), std::move(name), std::move(arguments)};
}

struct fixture : sleeptime_house {
  fixture() {
    CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
      auto a = *storage::find_agent(t, ada);
      storage::erase_group(t, *storage::managed_group(t, ada), env);
      auto changed = a;
      changed.type = agent_type::voice_convo_agent;
      changed.tool_ids.push_back(storage::find_tool_by_name(t, default_org_id(), "send_message")->id);
      changed.tool_rules.push_back(make_rule(tool_rule_type::exit_loop, "send_message"));
      storage::put_agent(t, changed, &a);
      if (auto done = storage::create_companion(t, changed, acting(), env); !done) return done;
      auto g = *storage::managed_group(t, ada);
      g.max_message_buffer_length = 6;
      g.min_message_buffer_length = 3;
      storage::save_group(t, g);
      return {};
    }));
  }

  // Three messages: what was said, the call that says something, its return.
  std::vector<run_id> chat(std::string text) {
    auto turn = send(ada, text);
    settle();
    auto words = R"({"message": "I hear )" + text + R"("})";
    reply_to(ada, call_reply({call_of_tool("say-" + text, "send_message", words)}));
    CAF_REQUIRE(turn.reply->value);
    return runs_in(turn.body());
  }
  std::size_t context_length() const {
    return storage::context_entries(*snapshot(), {ada, std::nullopt}).size() - 1;
  }
  void companion_calls(std::string name, std::string arguments) {
    reply_to(companion(), call_reply({call_of_tool("call-" + name, std::move(name), std::move(arguments))}));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(voice_tests, fixture)

CAF_TEST(memories are stored before their messages leave the context) {
  CAF_CHECK(chat("one").empty());
  CAF_CHECK(chat("two").empty());
  auto ids = chat("three");
  CAF_REQUIRE_EQUAL(ids.size(), 1u);
  CAF_CHECK_EQUAL(context_length(), 9u);
  companion_calls("store_memories",
                  R"({"chunks": [{"start_index": 0, "end_index": 1, "context": "It began with one."}]})");
  CAF_CHECK_EQUAL(context_length(), 3u);
  auto saved = storage::voice_memories(*snapshot(), ada);
  CAF_REQUIRE_EQUAL(saved.size(), 1u);
  CAF_CHECK_EQUAL(saved[0].what.lines, "user: one\nassistant: I hear one");
  CAF_CHECK_EQUAL(saved[0].what.context, "It began with one.");
  companion_calls("rethink_user_memory", R"({"new_memory": "Counts."})");
  CAF_CHECK_EQUAL(block_value(ada), "Counts.");
  companion_calls("finish_rethinking_memory", "{}");
  CAF_CHECK(row(ids[0]).status == run_status::completed);
  CAF_CHECK(row(ids[0]).stop_reason_ == stop_reason::end_turn);
  CAF_CHECK_EQUAL(history(ada).size(), 9u); // the history keeps them
  CAF_CHECK(chat("four").empty());
  CAF_CHECK(storage::check(*snapshot()).problems.empty());
}

CAF_TEST(the letter has numbered lines in two parts) {
  for (auto text : {"one", "two", "three"}) chat(text);
  companion_calls("store_memories", R"({"chunks": []})");
  std::string letter = history(companion()).front();
  CAF_CHECK(letter.find("<lines_that_go>\n0. user: one\n1. assistant: I hear one\n") != std::string::npos);
  CAF_CHECK(letter.find("<lines_that_stay>\n6. user: three\n") != std::string::npos);
}

CAF_TEST(nothing leaves the context where nothing was stored) {
  for (auto text : {"one", "two"}) chat(text);
  auto first = chat("three");
  companion_calls("store_memories", R"({"chunks": "all of it"})"); // refused
  CAF_CHECK_EQUAL(context_length(), 9u);
  reply_to(companion(), llm_failure(errc::llm_authentication, "LLMAuthenticationError", "wrong key"));
  CAF_CHECK(row(first[0]).status == run_status::failed);
  CAF_CHECK_EQUAL(context_length(), 9u);
  CAF_CHECK(storage::voice_memories(*snapshot(), ada).empty());
  auto second = chat("four"); // told again, with what came since
  companion_calls("store_memories", R"({"chunks": []})");
  CAF_CHECK_EQUAL(context_length(), 3u);
}

CAF_TEST(a crash between the memories and the end loses neither) {
  for (auto text : {"one", "two"}) chat(text);
  auto ids = chat("three");
  companion_calls("store_memories", R"({"chunks": [{"start_index": 0, "end_index": 5, "context": "all"}]})");
  crash();
  CAF_CHECK_EQUAL(context_length(), 3u);
  CAF_CHECK_EQUAL(storage::voice_memories(*snapshot(), ada).size(), 1u);
  companion_calls("finish_rethinking_memory", "{}");
  CAF_CHECK(row(ids[0]).status == run_status::completed);
}

CAF_TEST_FIXTURE_SCOPE_END()
