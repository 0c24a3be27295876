#include "runtime/cast.hpp"

#include "core/base/embedded.hpp"
#include "core/json/value.hpp"

#include <map>
#include <set>

namespace troupe::runtime {

namespace {

using net::awaitable;

constexpr std::string_view tag = "demo-cast"; // tells its agents from others
constexpr std::string_view model = "rehearsal/cast";

struct stage {
  net::http::handler api;
  std::string password;
  std::map<std::string, std::string> agents; // ids of the cast's, by name
  std::set<std::string> groups;              // descriptions
  bool has_others = false;                   // agents of somebody else
};

awaitable<result<json::value>> ask(stage& s, std::string method, std::string target, json::value body) {
  net::http::request r;
  r.method = std::move(method);
  r.target = std::move(target);
  net::http::parse_target(r);
  r.headers.emplace_back("content-type", "application/json");
  if (!s.password.empty()) r.headers.emplace_back("authorization", "Bearer " + s.password);
  if (!body.is_null()) r.body = json::print(body);
  auto answer = co_await s.api(std::move(r));
  auto v = json::try_parse(answer.body);
  if (answer.status != 200 || !v)
    co_return fail(errc::unavailable, "the cast: " + std::to_string(answer.status) + " " + answer.body);
  co_return std::move(*v);
}

bool has_tag(const json::value& agent) {
  auto* tags = json::find(agent, "tags");
  auto* list = tags ? tags->if_array() : nullptr;
  for (auto& t : list ? *list : json::array{})
    if (t.is_string() && json::view(t.get_string()) == tag) return true;
  return false;
}

// A companion belongs to whom it works for.
bool is_companion(const json::value& agent) {
  return json::string_or(agent, "agent_type").ends_with("sleeptime_agent");
}

awaitable<result<void>> look_around(stage& s) {
  auto agents = co_await ask(s, "GET", "/v1/agents/?limit=1000&include=agent.tags", nullptr);
  if (!agents) co_return agents.error();
  for (auto& a : agents->as_array())
    if (has_tag(a))
      s.agents.emplace(json::string_or(a, "name"), json::string_or(a, "id"));
    else
      s.has_others |= !is_companion(a);
  auto groups = co_await ask(s, "GET", "/v1/groups/?limit=1000", nullptr);
  if (!groups) co_return groups.error();
  for (auto& g : groups->as_array()) s.groups.emplace(json::string_or(g, "description"));
  co_return result<void>();
}

// The companion's group is made with the agent; here it is to work after every turn.
awaitable<result<void>> work_every_turn(stage& s, const json::value& agent) {
  auto* group = json::find(agent, "multi_agent_group");
  if (!group || !group->is_object()) co_return result<void>();
  json::value change{{"manager_config", {{"manager_type", "sleeptime"}, {"sleeptime_agent_frequency", 1}}}};
  auto target = "/v1/groups/" + std::string(json::string_or(*group, "id"));
  auto done = co_await ask(s, "PATCH", std::move(target), std::move(change));
  if (!done) co_return done.error();
  co_return result<void>();
}

awaitable<result<void>> engage(stage& s, json::object agent) {
  agent["model"] = boost::json::string(model);
  agent["tags"] = json::array{boost::json::string(tag)};
  auto made = co_await ask(s, "POST", "/v1/agents/", std::move(agent));
  if (!made) co_return made.error();
  s.agents.emplace(json::string_or(*made, "name"), json::string_or(*made, "id"));
  co_return co_await work_every_turn(s, *made);
}

// Names become ids.
json::value group_request(const stage& s, const json::object& described) {
  auto id_of = [&](const json::value& name) {
    auto it = s.agents.find(std::string(json::view(name.as_string())));
    return boost::json::string(it == s.agents.end() ? std::string() : it->second);
  };
  json::object manager, body;
  manager["manager_type"] = described.at("manager_type");
  if (auto* name = json::find(described, "manager")) manager["manager_agent_id"] = id_of(*name);
  json::array members;
  for (auto& name : described.at("members").as_array()) members.emplace_back(id_of(name));
  body["description"] = described.at("description");
  body["agent_ids"] = std::move(members);
  body["manager_config"] = std::move(manager);
  return body;
}

} // namespace

awaitable<result<bool>> prepare_cast(net::http::handler api, std::string password) {
  stage s{std::move(api), std::move(password), {}, {}, false};
  auto looked = co_await look_around(s);
  if (!looked) co_return looked.error();
  auto cast = *json::try_parse(embedded("demo/cast.json"));
  bool complete = true;
  for (auto& a : cast.at("agents").as_array()) {
    if (s.agents.contains(std::string(json::string_or(a, "name")))) continue;
    complete = !s.has_others;
    if (!complete) break;
    auto done = co_await engage(s, a.as_object());
    if (!done) co_return done.error();
  }
  for (auto& g : cast.at("groups").as_array()) {
    if (s.groups.contains(std::string(json::string_or(g, "description")))) continue;
    complete = complete && !s.has_others;
    if (!complete) break;
    auto done = co_await ask(s, "POST", "/v1/groups/", group_request(s, g.as_object()));
    if (!done) co_return done.error();
  }
  co_return complete;
}

} // namespace troupe::runtime
