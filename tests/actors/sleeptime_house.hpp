// An agent with a companion, in the house of the other tests.
#pragma once

#include "core/json/value.hpp"
#include "storage/companions.hpp"
#include "storage/groups.hpp"
#include "storage/sleeptime.hpp"
#include "tests/actors/fixture.hpp"

namespace troupe::test {

class sleeptime_house : public house {
public:
  explicit sleeptime_house(std::uint64_t seed = 1) : house(seed) { enable(std::nullopt); }

  // The companion is told every `frequency` turns; nothing: every turn.
  void enable(std::optional<std::int64_t> frequency) {
    CAF_REQUIRE(commit([&](storage::transaction& t) -> result<void> {
      auto a = *storage::find_agent(t, ada);
      if (!storage::managed_group(t, ada))
        if (auto done = storage::create_companion(t, a, acting(), env); !done) return done;
      auto changed = a;
      changed.enable_sleeptime = true;
      storage::put_agent(t, changed, &a);
      auto g = *storage::managed_group(t, ada);
      g.sleeptime_agent_frequency = frequency;
      g.turns_counter = frequency ? std::optional<std::int64_t>(-1) : std::nullopt;
      storage::save_group(t, g);
      return {};
    }));
  }

  group pair() const { return *storage::managed_group(*snapshot(), ada); }
  agent_id companion() const { return pair().agent_ids.at(0); }
  std::optional<storage::sleeptime_job> job() const {
    auto all = storage::jobs_of_group(*snapshot(), pair().id);
    return all.empty() ? std::nullopt : std::optional(all.front());
  }

  // The call of the model that somebody waits for.
  std::optional<std::size_t> call_of(const agent_id& who) const {
    for (std::size_t i = 0; i < desk->calls.size(); ++i) {
      auto row = storage::find_run(*snapshot(), desk->calls[i].of());
      if (!desk->calls[i].abandoned && row && row->agent == who) return i;
    }
    return std::nullopt;
  }
  void reply_to(const agent_id& who, result<model_reply> reply) {
    auto at = call_of(who);
    if (!at) CAF_FAIL("nobody of " << who.str() << " waits for the model");
    answer_model(*at, std::move(reply));
    settle();
  }

  // A whole exchange; gives the ids of the runs that it set off.
  std::vector<run_id> talk(std::string text) {
    auto turn = send(ada, text);
    settle();
    reply_to(ada, text_reply("you said " + text));
    CAF_REQUIRE(turn.reply->value);
    return runs_in(turn.body());
  }
  static std::vector<run_id> runs_in(const std::string& body) {
    std::vector<run_id> out;
    auto answer = *json::try_parse(body);
    auto* ids = json::find(*json::find(answer, "usage"), "run_ids");
    if (ids->is_array())
      for (auto& id : ids->get_array()) out.push_back(*run_id::parse(json::view(id.get_string())));
    return out;
  }

  // What the companion was told, letter by letter, without the words before the lines.
  lines letters() const {
    lines out;
    for (auto& line : history(companion()))
      if (auto at = line.find("</system-reminder>\n\n"); line.starts_with("user:") && at != std::string::npos)
        out.push_back(line.substr(at + 20));
    return out;
  }

  std::string last_letter() const { return letters().back(); }

  static tool_call insert_call(std::string id, std::string text) {
    json::object arguments;
    arguments["label"] = "human";
    arguments["new_string"] = boost::json::string(text);
    return {std::move(id), "memory_insert", json::print(json::value(std::move(arguments)))};
  }

  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});
};

inline result<model_reply> overloaded() { return llm_failure(errc::llm_overloaded, "LLMError", "too busy"); }

} // namespace troupe::test
