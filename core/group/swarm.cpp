// Hand-off: who speaks names who speaks next, or ends the conversation by naming nobody (reference: groups §7.13).
#include "core/group/pattern.hpp"
#include "core/json/value.hpp"

#include <utility>

namespace troupe::group_run {

namespace {

std::vector<const member*> others(scene s, const agent_id& speaker) {
  std::vector<const member*> out;
  for (auto& m : s.now.members)
    if (m.id != speaker) out.push_back(&m);
  return out;
}

class swarm final : public pattern {
public:
  // The first turn is that of who was named for it, where that one is still there.
  std::vector<part> next(scene s) const override {
    if (s.state.done) return {};
    if (auto who = std::exchange(s.state.chosen, std::nullopt); who && find(s.now, *who))
      return {new_part(s, *who, task::speak, std::exchange(s.state.why, {}))};
    auto& first = s.now.settings.options.first_agent_id;
    auto* named = first ? find(s.now, *first) : nullptr;
    return {new_part(s, named ? named->id : s.now.members.front().id, task::speak, "has the word first")};
  }

  std::vector<said_by> take(scene s, part& p, const outcome& o) const override {
    count_turn(s, p);
    auto candidates = others(s, p.agent);
    for (auto& call : o.calls)
      if (auto* who = chosen_by(call, candidates)) {
        s.state.chosen = who->id;
        s.state.why = "handed off: " + argument_of(call, "reason");
      }
    s.state.done = !s.state.chosen;
    // Who only hands off has said nothing that the others would have to hear of.
    if (o.said.empty() && s.state.chosen) return {};
    return {{find(s.now, p.agent), o.said}};
  }

  assignment assign(scene s, const part& p, const std::vector<log_entry>& unheard) const override {
    auto a = speak(s, p, unheard);
    auto candidates = others(s, p.agent);
    auto* who = find(s.now, p.agent);
    if (candidates.empty() || !who) return a;
    a.prompt = group_section("group_swarm", s.now, *who);
    a.tools.push_back(choice_tool(std::string(hand_off_tool),
                                  "Gives the word to another member of the group, who goes on in your place.",
                                  candidates));
    a.answer = "Handed off.";
    a.rules = who->rules;
    a.rules->push_back(make_rule(tool_rule_type::exit_loop, std::string(hand_off_tool)));
    return a;
  }

  // Twice around, so that a question may come back.
  std::int64_t default_turns(const view& v) const override {
    return 2 * static_cast<std::int64_t>(v.members.size());
  }
};

} // namespace

std::unique_ptr<pattern> make_swarm() { return std::make_unique<swarm>(); }

} // namespace troupe::group_run
