// The manager names who speaks next (reference: groups §2.3, D4, D7).
#include "core/base/text.hpp"
#include "core/group/pattern.hpp"
#include "core/json/value.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>
#include <utility>

namespace troupe::group_run {

namespace {

// Nobody twice in a row, where there are others.
std::vector<const member*> candidates_of(scene s) {
  std::vector<const member*> out;
  for (auto& m : s.now.members)
    if (s.now.members.size() == 1 || m.id != s.state.speaker) out.push_back(&m);
  return out;
}

// The member after the last speaker, in the group's order.
const member* in_order(scene s, const std::vector<const member*>& candidates) {
  auto& all = s.now.members;
  auto it = std::find_if(all.begin(), all.end(), [&](auto& m) { return m.id == s.state.speaker; });
  if (it == all.end() || ++it == all.end()) return candidates.front();
  return &*it;
}

bool says_done(const tool_call& call) {
  auto arguments = json::try_parse(call.arguments);
  auto* done = arguments ? json::find(*arguments, "done") : nullptr;
  return done && done->is_bool() && done->get_bool();
}

class dynamic_pattern final : public pattern {
public:
  std::vector<part> next(scene s) const override {
    if (s.state.done || !s.now.manager) return {};
    if (auto who = std::exchange(s.state.chosen, std::nullopt))
      return {new_part(s, *who, task::speak, std::exchange(s.state.why, {}))};
    return {new_part(s, s.now.manager->id, task::choose,
                     s.state.asked_again > 0 ? "asked again" : "the manager chooses")};
  }

  std::vector<said_by> take(scene s, part& p, const outcome& o) const override {
    if (p.what == task::choose) return take_choice(s, o);
    count_turn(s, p);
    return {{find(s.now, p.agent), o.said}};
  }

  assignment assign(scene s, const part& p, const std::vector<log_entry>& unheard) const override {
    if (p.what != task::choose) return speak(s, p, unheard);
    assignment a;
    a.what = p;
    a.messages = as_messages(s.now.settings.id, unheard);
    auto candidates = candidates_of(s);
    std::string list;
    for (auto* m : candidates) {
      list += "\n- " + m->name + " (" + m->id.str() + ")";
      auto card = std::string(text::prefix(m->persona.empty() ? m->description : m->persona, card_length));
      if (!card.empty()) list += ": " + card;
    }
    message_create ask;
    ask.content.emplace_back(text_content{
        text::replace_all(prompt::text(s.state.asked_again > 0 ? "group_choose_again" : "group_choose"),
                          "{candidates}", list),
        std::nullopt});
    ask.group_id = s.now.settings.id.str();
    a.messages.emplace_back(std::move(ask));
    a.prompt = group_section("group_manager", s.now, *s.now.manager);
    auto t =
        choice_tool(std::string(choose_tool),
                    "Names the member of the group that speaks next, or ends the conversation.", candidates);
    auto& properties = (*t.json_schema)["parameters"].as_object()["properties"].as_object();
    properties["done"] =
        json::object{{"type", "boolean"}, {"description", "True where nobody has to speak any more."}};
    a.tools.push_back(std::move(t));
    a.answer = "Noted.";
    a.rules = {make_rule(tool_rule_type::run_first, std::string(choose_tool)),
               make_rule(tool_rule_type::exit_loop, std::string(choose_tool))};
    return a;
  }

private:
  static constexpr std::size_t card_length = 400; // characters of a persona

  std::vector<said_by> take_choice(scene s, const outcome& o) const {
    ++s.state.step_count;
    auto candidates = candidates_of(s);
    const member* who = nullptr;
    for (auto& call : o.calls) {
      s.state.done = says_done(call);
      s.state.why = argument_of(call, "reason");
      who = chosen_by(call, candidates);
    }
    if (s.state.done) return {};
    if (!who) who = named_in(candidates, text_of(o));
    std::vector<said_by> words;
    if (!who && s.state.asked_again == 0) {
      s.state.asked_again = 1;
      return words;
    }
    s.state.asked_again = 0;
    if (!who) {
      who = in_order(s, candidates);
      s.state.why = "nobody was named: next in order";
      words.push_back(
          {nullptr,
           {{{text_content{"Nobody was named: " + who->name + " speaks next.", std::nullopt}}, ""}}});
    }
    s.state.chosen = who->id;
    return words;
  }
};

} // namespace

std::unique_ptr<pattern> make_dynamic() { return std::make_unique<dynamic_pattern>(); }

} // namespace troupe::group_run
