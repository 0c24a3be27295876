// The manager tells everybody what it needs, gathers the answers, and answers itself (reference: groups §2.2, D5).
#include "core/base/text.hpp"
#include "core/group/pattern.hpp"
#include "core/json/value.hpp"

#include <algorithm>

namespace troupe::group_run {

namespace {

constexpr std::int64_t most_rounds = 10;          // times that everybody is asked within one run
constexpr std::int64_t default_deadline_s = 1200; // of a member's answer

tool make_broadcast_tool() {
  const char* what = "Sends a message to every other agent of your group and waits for their answers.";
  tool t;
  t.name = std::string(broadcast_tool);
  t.tool_type_ = tool_type::letta_multi_agent_core;
  t.description = what;
  json::object message{{"type", "string"}, {"description", "What the others are told, in full."}};
  json::object parameters{{"type", "object"},
                          {"properties", json::object{{"message", message}}},
                          {"required", json::array{"message"}}};
  t.json_schema.emplace();
  (*t.json_schema)["name"] = boost::json::string(t.name);
  (*t.json_schema)["description"] = what;
  (*t.json_schema)["parameters"] = parameters;
  return t;
}

// First everybody is asked; once they have answered, the manager does.
std::vector<tool_rule> rules_for(const member& manager, bool asked) {
  std::vector<tool_rule> out;
  if (!asked) out.push_back(make_rule(tool_rule_type::run_first, std::string(broadcast_tool)));
  if (!manager.answers_by_tool) return out;
  if (asked) out.push_back(make_rule(tool_rule_type::run_first, "send_message"));
  out.push_back(make_rule(tool_rule_type::exit_loop, "send_message"));
  return out;
}

// As Python prints a list of texts: what the tool has always returned.
std::string list_of(const std::vector<part>& answers, const std::string& call_id) {
  json::array out;
  for (auto& p : answers)
    if (p.what == task::reply && p.call_id == call_id) out.emplace_back(boost::json::string(p.text));
  return json::python_repr(json::value(out));
}

class supervisor final : public pattern {
public:
  bool shares_log() const override { return false; }

  // Only the first turn begins by itself; the rest follows from what the manager does.
  std::vector<part> next(scene s) const override {
    if (s.state.done || !s.now.manager) return {};
    auto& past = s.state.past;
    bool begun = std::any_of(past.begin(), past.end(), [](auto& p) { return p.what == task::manage; });
    if (!begun) return {new_part(s, s.now.manager->id, task::manage, "the manager begins")};
    if (!past.empty() && past.back().what == task::reply)
      return {new_part(s, s.now.manager->id, task::manage, "everybody has answered")};
    return broadcast(s);
  }

  std::vector<said_by> take(scene s, part& p, const outcome& o) const override {
    auto* who = find(s.now, p.agent);
    if (p.what == task::reply) return take_reply(p, o, who);
    ++s.state.turns;
    s.state.step_count += o.model_calls;
    s.state.speaker = p.agent;
    s.state.done = !o.waits;
    p.text = o.waits ? calls_text(o.calls) : std::string();
    std::vector<said_by> words;
    for (auto& call : o.calls)
      if (o.waits) words.push_back({who, {{{text_content{argument_of(call, "message"), std::nullopt}}, ""}}});
    if (!o.said.empty()) words.push_back({who, o.said});
    return words;
  }

  assignment assign(scene s, const part& p, const std::vector<log_entry>& unheard) const override {
    if (p.what == task::reply) return ask_member(s, p);
    assignment a;
    a.what = p;
    auto& manager = *s.now.manager;
    a.prompt = group_section("group_supervisor", s.now, manager);
    if (s.state.turns < most_rounds) a.tools.push_back(make_broadcast_tool());
    bool asked = !s.state.past.empty();
    a.rules = rules_for(manager, asked);
    if (asked)
      a.messages.push_back(returns_of(s));
    else
      a.messages = as_messages(s.now.settings.id, unheard);
    return a;
  }

private:
  // The calls travel with the part that made them: [[id, message], ..].
  static std::string calls_text(const std::vector<tool_call>& calls) {
    json::array out;
    for (auto& c : calls)
      out.emplace_back(
          json::array{boost::json::string(c.id), boost::json::string(argument_of(c, "message"))});
    return json::print(json::value(out));
  }

  static std::vector<std::pair<std::string, std::string>> calls_of(scene s) {
    std::vector<std::pair<std::string, std::string>> out;
    auto& past = s.state.past;
    auto last = std::find_if(past.rbegin(), past.rend(), [](auto& p) { return p.what == task::manage; });
    auto made = last == past.rend() ? std::nullopt : json::try_parse(last->text);
    if (auto* list = made ? made->if_array() : nullptr)
      for (auto& c : *list) out.emplace_back(c.at(0).as_string().c_str(), c.at(1).as_string().c_str());
    return out;
  }

  static std::vector<part> broadcast(scene s) {
    std::vector<part> out;
    for (auto& [id, message] : calls_of(s))
      for (auto& m : s.now.members) {
        if (m.id == s.now.manager->id) continue;
        auto p = new_part(s, m.id, task::reply, "the manager asked everybody");
        p.call_id = id;
        p.text = message;
        if (!p.deadline) p.deadline = timestamp{s.now.now.us + default_deadline_s * 1'000'000};
        out.push_back(std::move(p));
      }
    return out;
  }

  static std::vector<said_by> take_reply(part& p, const outcome& o, const member* who) {
    auto said = text_of(o);
    if (o.failure)
      p.text = p.agent.str() + " could not answer: " + *o.failure;
    else if (o.cancelled)
      p.text = p.agent.str() + " did not answer in time";
    else
      p.text = p.agent.str() + " said: '" + (said.empty() ? "<no response>" : said) + "'";
    if (said.empty()) return {};
    return {{who, o.said}};
  }

  static assignment ask_member(scene s, const part& p) {
    assignment a;
    a.what = p;
    message_create m;
    m.role = message_role::system;
    auto& manager = *s.now.manager;
    m.name = manager.name;
    m.sender_id = manager.id.str();
    m.content.emplace_back(
        text_content{"[Incoming message from agent with ID '" + manager.id.str() +
                         "', the manager of your group: answer it, your answer is returned to it]\n" + p.text,
                     std::nullopt});
    a.messages.emplace_back(std::move(m));
    return a;
  }

  static input_message returns_of(scene s) {
    approval_create answer;
    answer.approvals.emplace();
    for (auto& [id, message] : calls_of(s)) {
      approval_item item;
      item.is_return = true;
      item.tool_call_id = id;
      item.returned.tool_call_id = id;
      item.returned.func_response = list_of(s.state.past, id);
      answer.approvals->push_back(std::move(item));
    }
    return answer;
  }
};

} // namespace

std::unique_ptr<pattern> make_supervisor() { return std::make_unique<supervisor>(); }

} // namespace troupe::group_run
