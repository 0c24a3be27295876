#include "core/tools/ask_tools.hpp"

#include "core/base/text.hpp"

namespace troupe::tools {

namespace {

constexpr std::string_view by_tags = "send_message_to_agents_matching_tags";
constexpr std::string_view and_wait = "send_message_to_agent_and_wait_for_reply";
constexpr std::string_view and_go_on = "send_message_to_agent_async";

std::vector<std::string_view> parameters_of(std::string_view name) {
  if (name == by_tags) return {"message", "match_all", "match_some"};
  return {"message", "other_agent_id"};
}

std::vector<std::string> texts(const json::value& v) {
  std::vector<std::string> out;
  if (auto* list = v.if_array())
    for (auto& item : *list) out.push_back(json::python_str(item));
  return out;
}

json::object answer_object(const answer_of& a) {
  json::object out;
  out["agent_id"] = boost::json::string(a.agent.str());
  if (a.failure) {
    out["error"] = boost::json::string(*a.failure);
    return out;
  }
  json::array said;
  for (auto& text : a.said) said.emplace_back(boost::json::string(text));
  if (said.empty()) said.emplace_back("<no response>");
  out["response"] = std::move(said);
  return out;
}

} // namespace

bool asks_others(const tool& t) {
  return t.tool_type_ == tool_type::letta_multi_agent_core &&
         (t.name == by_tags || t.name == and_wait || t.name == and_go_on);
}

outcome<ask> read_ask(std::string_view name, const json::object& arguments) {
  if (auto wrong = wrong_arguments(name, arguments, parameters_of(name))) return *wrong;
  ask a;
  a.message = json::python_str(*json::find(arguments, "message"));
  a.waits = name != and_go_on;
  a.by_tags = name == by_tags;
  if (!a.by_tags) {
    a.to = json::python_str(*json::find(arguments, "other_agent_id"));
    return a;
  }
  a.match_all = texts(*json::find(arguments, "match_all"));
  a.match_some = texts(*json::find(arguments, "match_some"));
  return a;
}

std::string asked_text(const agent_id& from, const ask& a) {
  std::string head = "[Incoming message from agent with ID '" + from.str() + "': ";
  head += a.waits ? "your answer to this message is returned to the sender]"
                  : "the sender does not wait for an answer]";
  return head + "\n" + a.message;
}

tool_result ask_result(std::string_view name, const ask& a, const std::vector<answer_of>& answers) {
  tool_result out;
  out.stdout_.emplace();
  out.stderr_.emplace();
  if (!a.waits) {
    out.returned = "Successfully sent message";
  } else if (a.by_tags) {
    json::array all;
    for (auto& one : answers) all.emplace_back(answer_object(one));
    out.returned = boost::json::string(json::python_repr(json::value(std::move(all))));
  } else if (answers.front().failure) {
    return ask_failed(name, {"RuntimeError", answers.front().agent.str() + ": " + *answers.front().failure});
  } else {
    out.returned = boost::json::string(json::python_repr(json::value(answer_object(answers.front()))));
  }
  return out;
}

tool_result would_deadlock(const std::vector<std::string>& cycle) {
  json::array names;
  for (auto& n : cycle) names.emplace_back(boost::json::string(n));
  json::object body;
  body["error"] = "would_deadlock";
  body["cycle"] = std::move(names);
  body["hint"] =
      "The one you ask waits for you. Answer with what you have, or leave it a message without waiting.";
  tool_result out;
  out.status = return_status::error;
  out.returned = boost::json::string(json::print(json::value(std::move(body))));
  out.stdout_.emplace();
  out.stderr_.emplace();
  return out;
}

tool_result ask_failed(std::string_view name, const tool_exception& e) {
  auto line = "Error executing function " + std::string(name) + ": " + e.type + ": " + e.message;
  tool_result out;
  out.status = return_status::error;
  out.returned = boost::json::string(std::string(text::prefix(line, 1000)));
  out.stdout_.emplace();
  out.stderr_ = {line};
  return out;
}

} // namespace troupe::tools
