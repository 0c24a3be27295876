// A store with the defaults of a new server, and short ways to put things into it.
#pragma once

#include "storage/agents.hpp"
#include "storage/blocks.hpp"
#include "storage/runs.hpp"
#include "storage/setup.hpp"
#include "tests/unit/store_folder.hpp"

namespace troupe::test {

struct agent_store : store_folder {
  fixed_environment env;
  org_id org = default_org_id();

  agent_store() {
    must(storage::prepare_format(*db, env));
    must(storage::prepare_defaults(*db, env));
  }

  // What a test needs before it begins.
  static void must(const result<void>& r) {
    if (!r) throw std::runtime_error(r.error().message);
  }

  // The nth agent, created n minutes after the first.
  agent make(std::uint64_t n, std::function<void(agent&)> change = {}, std::vector<block> blocks = {}) {
    agents::new_agent made;
    auto& a = made.record;
    a.id = nth<agent_id>(n);
    a.organization_id = org;
    a.name = "agent " + std::to_string(n);
    a.created_at = timestamp{env.time.us + static_cast<std::int64_t>(n) * 60'000'000};
    a.system = "be good";
    if (change) change(a);
    for (auto& b : blocks) a.block_ids.push_back(b.id);
    made.blocks = std::move(blocks);
    auto system = make_message(message_role::system, "be good");
    system.id = nth<message_id>(1000 + n);
    system.agent = a.id;
    system.organization_id = org;
    made.messages = {system};
    must(write([&](storage::transaction& t) { storage::create_agent(t, made); }));
    return a;
  }
  block owned(std::string label, std::string value) {
    auto b = make_block(std::move(label), std::move(value));
    b.organization_id = org;
    b.created_at = env.time;
    return b;
  }
  storage::stored_message message_of(const agent& a, std::uint64_t n,
                                     message_role role = message_role::user) {
    auto m = make_message(role, "text " + std::to_string(n));
    m.id = nth<message_id>(n);
    m.agent = a.id;
    m.organization_id = org;
    return std::make_shared<const message>(m);
  }
  block block_now(const block_id& id) const { return *storage::find_block(*snapshot(), id); }
  run begin(const agent& a, std::uint64_t n) {
    run row;
    row.id = nth<run_id>(n);
    row.agent = a.id;
    row.organization_id = org;
    row.created_at = timestamp{env.time.us + static_cast<std::int64_t>(n)};
    must(write([&](storage::transaction& t) { storage::create_run(t, row); }));
    return row;
  }
  static std::string texts(const std::vector<storage::stored_message>& all) {
    std::string out;
    for (auto& m : all) out += (out.empty() ? "" : ",") + text_of(*m);
    return out;
  }
};

} // namespace troupe::test
