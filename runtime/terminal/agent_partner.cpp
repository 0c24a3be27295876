#include "runtime/terminal/groups.hpp"
#include "runtime/terminal/partner.hpp"

#include <iostream>
#include <map>

namespace troupe::runtime {

namespace {

// The kind of the group that an agent manages; empty: of none.
std::string_view kind_of_group(const json::value& agent) {
  auto* group = json::find(agent, "multi_agent_group");
  return group ? json::string_or(*group, "manager_type") : std::string_view{};
}

// Those that work on an agent's memory behind it, and the last run of each that is known.
using companions = std::map<std::string, std::string>;

companions companions_of(const json::value& agent) {
  companions out;
  if (!kind_of_group(agent).ends_with("sleeptime")) return out;
  if (auto* ids = json::find(agent.at("multi_agent_group"), "agent_ids"))
    for (auto& id : items_of(*ids)) out.emplace(json::view(id.as_string()), "");
  return out;
}

class agent_partner final : public partner {
public:
  agent_partner(connection& server, const json::value& agent, agent_names names)
      : server_(server),
        names_(std::move(names)),
        id_(json::string_or(agent, "id")),
        name_(json::string_or(agent, "name")),
        model_(json::string_or(agent, "model")),
        companions_(companions_of(agent)) {
    new_background_run();
  }

  std::string title() const override { return name_ + " (" + model_ + ", " + id_ + ")"; }

  result<void> send(const std::string& text, std::ostream& out) override {
    printer shown(out, names_);
    auto sent = server_.stream("/v1/agents/" + id_ + "/messages/stream", message_body(text),
                               [&](std::string_view data) { shown.event(data); });
    shown.end();
    if (sent && new_background_run()) out << "  (" << name_ << "'s memory is being tidied up)" << std::endl;
    return sent;
  }

private:
  // Streams do not tell that a turn has woken the companions; their runs do.
  bool new_background_run() {
    bool woken = false;
    for (auto& [companion, last] : companions_) {
      auto runs = server_.ask("GET", "/v1/runs/?limit=1&agent_id=" + companion);
      if (!runs || items_of(*runs).empty()) continue;
      auto newest = std::string(json::string_or(items_of(*runs).front(), "id"));
      woken |= newest != last;
      last = std::move(newest);
    }
    return woken;
  }

  connection& server_;
  agent_names names_;
  std::string id_, name_, model_;
  companions companions_;
};

result<std::string> first_model(connection& server) {
  auto models = server.ask("GET", "/v1/models/");
  if (!models) return models.error();
  for (auto& m : items_of(*models))
    if (auto handle = json::string_or(m, "handle"); handle != "letta/letta-free") return std::string(handle);
  return fail(errc::not_found, "the server has no models: configure a provider");
}

result<json::value> create_agent(connection& server, const chat_options& o) {
  auto model = o.model.empty() ? first_model(server) : result<std::string>(o.model);
  if (!model) return model.error();
  json::object human, persona, body;
  human["label"] = "human";
  human["value"] = "";
  persona["label"] = "persona";
  persona["value"] = "I am a helpful companion who remembers.";
  body["memory_blocks"] = json::array{std::move(human), std::move(persona)};
  body["model"] = boost::json::string(*model);
  return server.ask("POST", "/v1/agents/", json::print(json::value(std::move(body))));
}

// Nobody means a companion who names nobody.
bool is_meant(const json::value& agent, const std::string& name) {
  if (!name.empty()) return json::string_or(agent, "name") == name;
  return !json::string_or(agent, "agent_type").ends_with("sleeptime_agent");
}

result<json::value> find_agent(connection& server, const chat_options& o) {
  const std::string with = "include=agent.managed_group";
  if (o.agent.starts_with("agent-")) return server.ask("GET", "/v1/agents/" + o.agent + "?" + with);
  auto all = server.ask("GET", "/v1/agents/?limit=1000&" + with);
  if (!all) return all.error();
  for (auto& a : items_of(*all))
    if (is_meant(a, o.agent)) return a;
  if (!o.agent.empty()) return fail(errc::not_found, "there is no agent named " + o.agent);
  return create_agent(server, o);
}

} // namespace

result<std::unique_ptr<partner>> find_agent_partner(connection& server, const chat_options& o) {
  auto agent = find_agent(server, o);
  if (!agent) return agent.error();
  // Who manages a group answers for it, with the ids of its members perhaps.
  auto names = kind_of_group(*agent).empty() ? result<agent_names>(agent_names{}) : names_of_agents(server);
  if (!names) return names.error();
  return std::unique_ptr<partner>(std::make_unique<agent_partner>(server, *agent, std::move(*names)));
}

} // namespace troupe::runtime
