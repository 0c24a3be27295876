// A group's run that is interrupted: the process dies between any two messages of its actors, and the run goes on as
// if nothing had happened (goals G2 and G9 of the reference, groups §6).
#define CAF_SUITE group_crashes
#include "core/json/value.hpp"
#include "storage/groups.hpp"
#include "tests/actors/fixture.hpp"

#include <iostream>

using namespace troupe;
using namespace troupe::test;

namespace {

// What is left of a run: what everybody has heard and said, and how often the model was called.
struct trace {
  lines contexts;
  run_status status = run_status::created;
  std::size_t model_calls = 0;
  std::size_t messages = 0; // handled by actors

  bool same(const trace& o) const { return contexts == o.contexts && status == o.status; }
};

class stage : house {
public:
  stage(manager_type type, std::uint64_t seed) : house(seed), random_(seed) {
    group g;
    g.id = env.make_id<group_id>();
    g.manager_type_ = type;
    g.organization_id = default_org_id();
    g.created_at = env.now();
    for (int i = 0; i < 3; ++i) g.agent_ids.push_back(join());
    if (leads(type)) g.manager_agent_id = join();
    group_ = g;
    CAF_REQUIRE(commit([&](storage::transaction& t) { return storage::create_group(t, group_); }));
  }

  // One request; the process dies after this many messages, where that is not nothing.
  trace play(std::optional<std::size_t> crash_after) {
    auto run = send_to_group("hello");
    trace out;
    bool crashed = false;
    for (std::size_t n = 0; !has_ended(run); ++n) {
      if (n > 100'000) throw std::runtime_error("the run does not end");
      if (crash_after && !crashed && out.messages >= *crash_after) {
        crash();
        crashed = true;
        if (!storage::find_run(*snapshot(), run)) return out; // nobody was promised anything yet
      }
      bool moved = run_one_of(static_cast<std::size_t>(random_() % ready()));
      out.messages += moved;
      if (!moved) out.model_calls += answer_all();
    }
    settle();
    out.status = row(run).status;
    for (auto& a : agents_)
      for (auto& line : history(a)) out.contexts.push_back(name_of(a) + " " + line);
    check_invariants();
    return out;
  }

private:
  agent_id join() {
    agent_options o;
    o.name = "agent" + std::to_string(agents_.size());
    return agents_.emplace_back(make_agent(o));
  }

  std::string name_of(const agent_id& id) const {
    auto it = std::find(agents_.begin(), agents_.end(), id);
    return "agent" + std::to_string(it - agents_.begin());
  }

  run_id send_to_group(std::string text) {
    auto order = std::make_shared<storage::turn_order>();
    auto& row = order->run_row;
    row.id = env.make_id<run_id>();
    row.created_at = env.now();
    row.agent = group_.manager_agent_id.value_or(agents_.front());
    row.organization_id = default_org_id();
    row.group = order->group = group_.id;
    order->agent = row.agent;
    order->acting = acting();
    order->request = text_request(std::move(text));
    ask<actors::turn_answer>(directory, actors::turn_order_ptr(order));
    return row.id;
  }

  bool has_ended(const run_id& run) const {
    auto found = storage::find_run(*snapshot(), run);
    return found && is_terminal(found->status);
  }

  // The same request always gets the same answer: by who is asked, what it is offered, and how often it has spoken.
  std::size_t answer_all() {
    std::size_t n = 0;
    for (std::size_t i = 0; i < desk->calls.size(); ++i) {
      if (!answered_.insert(desk->calls[i].step()).second) continue;
      ++n;
      auto body = json::try_parse(*desk->calls[i].body).value();
      auto who = storage::find_run(*snapshot(), desk->calls[i].of());
      answer_model(i, reply_to(body, who ? name_of(who->agent) : "nobody"));
    }
    return n;
  }

  model_reply reply_to(const json::value& body, const std::string& who) const {
    std::size_t spoken = 0;
    bool asked_all = false;
    for (auto& m : json::find(body, "messages")->get_array()) {
      spoken += json::string_or(m, "role") == "assistant";
      asked_all |= json::string_or(m, "role") == "tool";
    }
    if (auto* tools = json::find(body, "tools"); tools && tools->is_array())
      for (auto& t : tools->get_array()) {
        auto name = std::string(json::string_or(*json::find(t, "function"), "name"));
        if (name == "choose_next_participant") return text_reply("agent" + std::to_string(spoken % 3));
        if (name == "send_message_to_all_agents_in_group" && !asked_all)
          return call_reply({{"c1", name, R"({"message":"ready?"})"}});
      }
    return text_reply(who + " says " + std::to_string(spoken + 1));
  }

  void check_invariants() const {
    for (auto& a : agents_) { // I1
      auto messages = storage::context_messages(*snapshot(), {a, std::nullopt});
      for (std::size_t i = 0; i < messages.size(); ++i)
        if (messages[i]->role == message_role::assistant && !messages[i]->tool_calls.empty())
          CAF_REQUIRE(i + 1 < messages.size() && messages[i + 1]->role == message_role::tool);
    }
    for (auto& id : storage::active_runs(*snapshot()))
      CAF_ERROR("run " << id.str() << " is still active"); // I14
  }

  std::mt19937_64 random_;
  std::set<uuid> answered_; // steps whose model call has its answer
  std::vector<agent_id> agents_;
  group group_;
};

constexpr std::uint64_t seeds = 12; // orders in which mailboxes are served, for each place of a crash
constexpr manager_type kinds[] = {manager_type::round_robin, manager_type::supervisor, manager_type::dynamic,
                                  manager_type::swarm};

} // namespace

CAF_TEST(a crash between any two messages changes nothing) {
  for (auto kind : kinds) {
    std::size_t schedules = 0, repeated = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      auto whole = stage(kind, seed).play(std::nullopt);
      CAF_CHECK(whole.status == run_status::completed);
      for (std::size_t at = 1; at < whole.messages; ++at) {
        auto played = stage(kind, seed).play(at);
        ++schedules;
        if (played.contexts.empty()) continue; // before its run was stored
        if (!played.same(whole))
          CAF_ERROR(json::enum_text(kind)
                    << " seed " << seed << ": a crash after message " << at << " shows");
        if (played.model_calls > whole.model_calls) repeated += played.model_calls - whole.model_calls;
        // Turns that are out at once may each have been at their model.
        std::size_t parallel = kind == manager_type::supervisor ? 3 : 1;
        CAF_CHECK(played.model_calls <= whole.model_calls + parallel);
      }
    }
    CAF_MESSAGE(json::enum_text(kind)
                << ": " << schedules << " schedules, " << repeated << " calls repeated");
  }
}
