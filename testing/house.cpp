#include "testing/house.hpp"

#include "core/agents/create.hpp"
#include "core/json/value.hpp"
#include "storage/blocks.hpp"
#include "storage/conversations.hpp"
#include "storage/lmdb_store.hpp"
#include "storage/messages.hpp"
#include "storage/pending.hpp"
#include "storage/setup.hpp"
#include "storage/tools.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

namespace troupe::test {

// -- time and ids ---------------------------------------------------------------------------------
std::int64_t virtual_environment::monotonic_ns() {
  auto t = scheduler_.clock().current_time.time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t).count();
}

timestamp virtual_environment::now() {
  constexpr std::int64_t start_us = 1'767'225'600'000'000; // 2026-01-01
  return {start_us + monotonic_ns() / 1000};
}

uuid virtual_environment::random_uuid() {
  std::uint64_t words[2] = {generator_(), generator_()};
  uuid u;
  std::memcpy(u.bytes.data(), words, 16);
  u.bytes[6] = static_cast<std::uint8_t>((u.bytes[6] & 0x0f) | 0x40);
  u.bytes[8] = static_cast<std::uint8_t>((u.bytes[8] & 0x3f) | 0x80);
  return u;
}

// -- the model ------------------------------------------------------------------------------------
std::size_t model_desk::count(const run_id& run) const {
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [&](auto& c) { return c.of() == run && !c.abandoned; }));
}

namespace {

using actors::model_body_ptr;
using actors::model_call_ptr;
using actors::model_result_ptr;

class scripted_models final : public caf::event_based_actor {
public:
  scripted_models(caf::actor_config& cfg, std::shared_ptr<model_desk> desk)
      : event_based_actor(cfg), desk_(std::move(desk)) {}

  caf::behavior make_behavior() override {
    return {
        [this](const model_call_ptr& c,
               const model_body_ptr& body) -> caf::typed_response_promise<model_result_ptr> {
          auto from = current_sender(); // the promise takes it
          auto promise = make_response_promise<model_result_ptr>();
          desk_->calls.push_back({c, body, promise, from, false});
          return promise;
        },
        [this](actors::abandon_atom, const uuid& step) {
          for (auto& c : desk_->calls) c.abandoned |= c.step() == step;
        },
        // From the test: a promise may be used in here only.
        [this](const uuid& step, const model_result_ptr& r) {
          auto it = std::find_if(desk_->calls.begin(), desk_->calls.end(),
                                 [&](auto& c) { return c.step() == step; });
          if (it == desk_->calls.end()) return;
          auto promise = it->promise;
          desk_->calls.erase(it);
          promise.deliver(r);
        },
    };
  }
  void on_exit() override { desk_->calls.clear(); } // promises refer to this actor

private:
  std::shared_ptr<model_desk> desk_;
};

llm_config scripted_model(bool parallel) {
  llm_config c;
  c.model = "scripted";
  c.model_endpoint_type = "openai";
  c.context_window = 32000;
  c.handle = "openai/scripted";
  c.parallel_tool_calls = parallel;
  return c;
}

} // namespace

armed_fault::armed_fault(std::string point, faults::kind what, int nth, bool for_good) {
  auto passed = std::make_shared<int>(0);
  faults::set_handler([=](std::string_view at) {
    if (at != point) return faults::kind::none;
    ++*passed;
    return *passed == nth || (for_good && *passed > nth) ? what : faults::kind::none;
  });
}

// -- life -----------------------------------------------------------------------------------------
house::house(std::uint64_t seed, actors::agent_limits turns, actors::directory_limits contexts)
    : env(sched, seed),
      io_host(sys, [this](std::function<void()> task) { asio::post(io, std::move(task)); }),
      limits(turns),
      directory_limits(contexts) {
  spdlog::set_level(spdlog::level::off);
  static int number = 0;
  folder = std::filesystem::temp_directory_path() /
           ("troupe-actors-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
  open_store();
  start();
}

house::~house() {
  stop_actors();
  db.reset();
  std::filesystem::remove_all(folder);
}

void house::open_store() {
  storage::lmdb_options o;
  o.directory = folder;
  o.map_size = std::size_t{1} << 28;
  o.durable = false; // the process does not die here
  auto opened = storage::open_lmdb(o);
  if (!opened) CAF_FAIL("the store does not open: " << opened.error().message);
  db = std::move(*opened);
  CAF_REQUIRE(storage::prepare_format(*db, env));
  CAF_REQUIRE(storage::prepare_defaults(*db, env));
  CAF_REQUIRE(storage::recover(*db, env));
}

void house::start() {
  streams = std::make_shared<net::run_streams>(io, env, net::stream_limits{});
  auto front = std::make_shared<actors::foreground>();
  store = sys.spawn(actors::store_writer, db,
                    actors::company{.wait = std::chrono::milliseconds{0}, .front = front});
  queries = sys.spawn(actors::query_worker, db);
  models = caf::actor_cast<actors::models_actor>(sys.spawn<scripted_models>(desk));
  sandbox = caf::actor_cast<actors::sandbox_actor>(sys.spawn<scripted_sandbox>(tool_desk));
  streams_actor = net::spawn_streams(sys, &io_host, streams);
  auto deps = std::make_shared<actors::agent_deps>();
  deps->db = db;
  deps->env = &env;
  deps->store = store;
  deps->front = front;
  deps->models = models;
  deps->sandbox = sandbox;
  deps->streams = streams_actor;
  deps->limits = limits;
  sleeper = sys.spawn(actors::sleeper, actors::sleeper_deps{db, &env, store, front, sleeper_limits});
  deps->sleeper = sleeper;
  directory = sys.spawn(actors::directory, actors::agent_deps_ptr(std::move(deps)), directory_limits);
  caf::anon_send(sleeper, caf::actor_cast<caf::actor>(directory));
  settle();
}

// The clients first, so that they see nothing of what follows; then the store, so that nothing more is written.
void house::stop_actors() {
  auto kill = [](const auto& h) { caf::anon_send_exit(h, caf::exit_reason::kill); };
  for (auto& c : clients_)
    if (auto alive = caf::actor_cast<caf::actor>(c)) kill(alive);
  clients_.clear();
  kill(sleeper);
  kill(store);
  kill(queries);
  kill(models);
  kill(sandbox);
  kill(streams_actor);
  caf::anon_send(directory, actors::stop_atom_v);
  store = nullptr;
  queries = nullptr;
  models = nullptr;
  sandbox = nullptr;
  streams_actor = nullptr;
  sleeper = nullptr;
  directory = nullptr;
  release();
  streams = nullptr;
}

void house::crash() {
  stop_actors();
  sched.trigger_timeouts(); // of actors that are gone
  settle();
  if (db.use_count() != 1) CAF_FAIL("somebody still has the store: " << db.use_count());
  db.reset();
  open_store();
  start();
  for (auto& order : storage::pending_orders(*snapshot())) caf::anon_send(directory, order);
}

// -- progress -------------------------------------------------------------------------------------
void house::settle() {
  do run_ready();
  while (answer_rehearsed());
}

void house::run_ready() {
  auto free = [this](caf::resumable* r) { return !held_.contains(r); };
  for (;;) {
    auto n = sched.run_jobs_filtered(free);
    io.restart();
    if (n + io.poll() == 0) return;
  }
}

bool house::answer_rehearsed() {
  if (!rehearsed_) return false;
  for (std::size_t i = 0; i < desk->calls.size(); ++i) {
    if (desk->calls[i].abandoned) continue;
    auto reply = rehearsed_->reply_to(desk->calls[i].step(), *desk->calls[i].body, env.monotonic_ns());
    if (!reply) continue;
    answer_model(i, std::move(*reply));
    return true;
  }
  return false;
}

void house::pass(std::chrono::milliseconds t) {
  settle();
  while (t > 0ms) {
    auto d = std::min<std::chrono::milliseconds>(t, 250ms);
    advance_time(d);
    settle();
    t -= d;
  }
}

void house::release() {
  held_.clear();
  settle();
}

bool house::run_one_of(std::size_t choice) {
  auto& jobs = sched.jobs;
  choice %= jobs.size() + 1;
  io.restart();
  if (choice == jobs.size()) return io.poll_one() > 0;
  std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(choice),
              jobs.begin() + static_cast<std::ptrdiff_t>(choice) + 1);
  return sched.try_run_once();
}

// -- the store ------------------------------------------------------------------------------------
result<void> house::commit(std::function<result<void>(storage::transaction&)> apply) {
  return db->commit({storage::batch{"test", std::move(apply)}}).front();
}

conversation_id house::make_conversation(const agent_id& of) {
  conversation c;
  c.id = env.make_id<conversation_id>();
  c.agent = of;
  c.organization_id = default_org_id();
  c.created_at = env.now();
  auto made = commit([&](storage::transaction& t) -> result<void> {
    auto system = *storage::context_messages(t, {of, std::nullopt}).front();
    system.id = env.make_id<message_id>();
    system.conversation = c.id;
    storage::create_conversation(t, c, std::make_shared<const message>(std::move(system)));
    return {};
  });
  CAF_REQUIRE(made);
  return c.id;
}

agent_id house::make_agent(const agent_options& options) {
  create_agent request;
  request.agent_type_ = agent_type::letta_v1_agent;
  request.include_base_tools = false;
  request.include_base_tool_rules = false;
  create_block human;
  human.label = "human";
  human.value = options.human;
  request.memory_blocks.emplace().push_back(std::move(human));
  if (!options.name.empty()) request.name = options.name;
  if (!options.persona.empty()) {
    create_block persona;
    persona.label = "persona";
    persona.value = options.persona;
    request.memory_blocks->push_back(std::move(persona));
  }
  if (!options.gated.empty()) request.tool_rules.emplace();
  for (auto& name : options.gated)
    request.tool_rules->push_back(make_rule(tool_rule_type::requires_approval, name));
  agent_id id;
  auto stored = commit([&](storage::transaction& t) -> result<void> {
    std::vector<tool> tools;
    for (auto& name : options.tools) tools.push_back(*storage::find_tool_by_name(t, default_org_id(), name));
    auto made = agents::make_agent(request, scripted_model(options.parallel_tool_calls), std::nullopt, tools,
                                   {}, acting(), std::nullopt, env);
    if (!made) return made.error();
    storage::create_agent(t, *made);
    id = made->record.id;
    return {};
  });
  if (!stored) CAF_FAIL("no agent: " << stored.error().message);
  return id;
}

troupe::run house::row(const run_id& id) const {
  auto found = storage::find_run(*snapshot(), id);
  if (!found) CAF_FAIL("there is no " << id.str());
  return *found;
}

namespace {

std::string describe(const message& m) {
  std::string out = std::string(json::enum_text(m.role)) + ":";
  if (m.role == message_role::tool) {
    for (auto& r : m.tool_returns)
      out += " " + r.tool_call_id.value_or("") + " -> " + std::string(json::enum_text(r.status));
    return out;
  }
  if (auto text = text_of(m); !text.empty()) out += " " + text;
  for (auto& c : m.tool_calls) out += " " + c.id + " = " + c.name;
  for (auto& a : m.approvals) out += " " + a.tool_call_id + (a.approve ? " approved" : " denied");
  return out;
}

} // namespace

lines house::history(const agent_id& id) const {
  lines out;
  storage::history_query q;
  q.limit = 10'000;
  for (auto& m : storage::history(*snapshot(), id, q))
    if (m->role != message_role::system) out.push_back(describe(*m));
  return out;
}

namespace {
block block_of(const storage::reader& r, const agent_id& id, std::string_view label) {
  for (auto& b : storage::blocks_of_agent(r, id))
    if (b.label == label) return b;
  CAF_FAIL("no block " << std::string(label));
}
} // namespace

std::string house::block_value(const agent_id& id, std::string_view label) const {
  return block_of(*snapshot(), id, label).value;
}

void house::change_block(const agent_id& id, std::string value, std::string_view label) {
  auto stored = commit([&](storage::transaction& t) -> result<void> {
    update_block change;
    change.value = std::move(value);
    auto b = storage::change_block(t, block_of(t, id, label), change, env);
    if (!b) return b.error();
    return {};
  });
  CAF_REQUIRE(stored);
}

} // namespace troupe::test
