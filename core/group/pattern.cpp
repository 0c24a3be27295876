#include "core/group/pattern.hpp"

#include "core/base/text.hpp"
#include "core/json/value.hpp"
#include "core/prompt/system_prompt.hpp"

#include <algorithm>
#include <cctype>

namespace troupe::group_run {

std::unique_ptr<pattern> make_pattern(manager_type type) {
  switch (type) {
  case manager_type::supervisor: return make_supervisor();
  case manager_type::dynamic: return make_dynamic();
  case manager_type::swarm: return make_swarm();
  case manager_type::round_robin:
  case manager_type::sleeptime: // its members speak for themselves only where somebody asks the group
  case manager_type::voice_sleeptime: break;
  }
  return make_round_robin();
}

const member* find(const view& v, const agent_id& id) {
  for (auto& m : v.members)
    if (m.id == id) return &m;
  return v.manager && v.manager->id == id ? &*v.manager : nullptr;
}

void count_turn(scene s, const part& p) {
  ++s.state.turns;
  ++s.state.step_count;
  s.state.speaker = p.agent;
}

part new_part(scene s, const agent_id& agent, task what, std::string why) {
  part p;
  p.run = s.env.make_id<run_id>();
  p.agent = agent;
  p.what = what;
  p.why = std::move(why);
  if (auto seconds = s.now.settings.options.member_deadline_s)
    p.deadline = timestamp{s.now.now.us + *seconds * 1'000'000};
  return p;
}

// -- what members are told ------------------------------------------------------------------------
std::vector<input_message> as_messages(const group_id& group, const std::vector<log_entry>& entries) {
  std::vector<input_message> out;
  for (auto& e : entries) {
    message_create m;
    m.role = e.role;
    m.content = e.content;
    m.name = e.name;
    m.otid = e.otid;
    m.group_id = group.str();
    if (e.speaker) m.sender_id = e.speaker->str();
    out.emplace_back(std::move(m));
  }
  return out;
}

input_message note(const group_id& group, std::string text) {
  message_create m;
  m.role = message_role::system;
  m.content.emplace_back(text_content{std::move(text), std::nullopt});
  m.group_id = group.str();
  return m;
}

std::string group_section(std::string_view prompt, const view& v, const member& who) {
  std::string members;
  for (auto& m : v.members) {
    members += "\n- " + m.name + " (" + m.id.str() + ")";
    if (!m.description.empty()) members += ": " + m.description;
  }
  auto out = text::replace_all(prompt::text(prompt), "{name}", who.name);
  out = text::replace_all(out, "{description}", v.settings.description);
  return text::replace_all(out, "{members}", members);
}

assignment speak(scene s, const part& p, const std::vector<log_entry>& unheard) {
  assignment a;
  a.what = p;
  a.messages = as_messages(s.now.settings.id, unheard);
  if (a.messages.empty()) a.messages.push_back(note(s.now.settings.id, "It is your turn again."));
  if (auto* who = find(s.now, p.agent)) a.prompt = group_section("group_member", s.now, *who);
  return a;
}

// -- who is meant ---------------------------------------------------------------------------------
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

bool has_word(const std::string& haystack, const std::string& word) {
  for (auto at = haystack.find(word); !word.empty() && at != std::string::npos;
       at = haystack.find(word, at + 1)) {
    auto after = at + word.size();
    if ((at == 0 || !is_word_char(haystack[at - 1])) &&
        (after == haystack.size() || !is_word_char(haystack[after])))
      return true;
  }
  return false;
}

} // namespace

const member* named_in(const std::vector<const member*>& candidates, const std::string& given) {
  auto all = std::string(text::trim(given));
  for (auto* m : candidates)
    if (all == m->id.str() || text::lower(all) == text::lower(m->name)) return m;
  const member* found = nullptr;
  for (auto* m : candidates) {
    if (!has_word(given, m->id.str()) && !has_word(text::lower(given), text::lower(m->name))) continue;
    if (found) return nullptr;
    found = m;
  }
  return found;
}

tool choice_tool(std::string name, const std::string& description,
                 const std::vector<const member*>& candidates) {
  json::array ids;
  std::string who;
  for (auto* m : candidates) {
    ids.emplace_back(boost::json::string(m->id.str()));
    who += (who.empty() ? "" : "; ") + m->id.str() + " is " + m->name;
  }
  tool t;
  t.name = std::move(name);
  t.tool_type_ = tool_type::letta_multi_agent_core;
  t.description = description;
  json::object agent{
      {"type", "string"}, {"enum", ids}, {"description", boost::json::string("Who: " + who + ".")}};
  json::object reason{{"type", "string"}, {"description", "Why, in a few words."}};
  json::object parameters{{"type", "object"},
                          {"properties", json::object{{"agent_id", agent}, {"reason", reason}}},
                          {"required", json::array{"agent_id"}}};
  t.json_schema.emplace();
  (*t.json_schema)["name"] = boost::json::string(t.name);
  (*t.json_schema)["description"] = boost::json::string(description);
  (*t.json_schema)["parameters"] = parameters;
  return t;
}

bool is_group_tool(std::string_view name) {
  return name == choose_tool || name == hand_off_tool || name == broadcast_tool;
}

std::string argument_of(const tool_call& call, std::string_view name) {
  auto arguments = json::try_parse(call.arguments);
  return arguments ? std::string(json::string_or(*arguments, name)) : std::string();
}

const member* chosen_by(const tool_call& call, const std::vector<const member*>& candidates) {
  return named_in(candidates, argument_of(call, "agent_id"));
}

std::string text_of(const outcome& o) {
  std::string out;
  for (auto& m : o.said)
    for (auto& part : m.content)
      if (auto* t = std::get_if<text_content>(&part)) out += (out.empty() ? "" : "\n") + t->text;
  return out;
}

} // namespace troupe::group_run
