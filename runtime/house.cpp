#include "runtime/house.hpp"

#include "actors/query.hpp"
#include "actors/sleeper.hpp"
#include "actors/store_writer.hpp"
#include "core/base/embedded.hpp"
#include "net/rest/api.hpp"
#include "net/rest/callbacks.hpp"
#include "net/rest/run_streaming.hpp"
#include "net/sandbox/sandbox.hpp"
#include "runtime/cast.hpp"
#include "runtime/test_clock.hpp"
#include "storage/lmdb_store.hpp"
#include "storage/pending.hpp"
#include "storage/setup.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include <fstream>
#include <random>

namespace troupe::runtime {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto clock_tick = 20ms; // how soon actors notice that a test has set the clock forward
constexpr std::string_view compatible_version = "0.16.8"; // of the API, as clients compare it

result<std::shared_ptr<storage::database>> prepare_store(const config& c, environment& env) {
  storage::lmdb_options o;
  o.directory = c.data;
  auto db = storage::open_lmdb(o);
  if (!db) return db.error();
  std::shared_ptr<storage::database> store = std::move(*db);
  if (auto done = storage::prepare_format(*store, env); !done) return done.error();
  if (auto done = storage::prepare_defaults(*store, env); !done) return done.error();
  auto ended = storage::recover(*store, env);
  if (!ended) return ended.error();
  if (*ended > 0) spdlog::warn("{} interrupted runs were ended as failed", *ended);
  return store;
}

result<std::shared_ptr<storage::database>> open_store(const config& c, environment& env) {
  try {
    return prepare_store(c, env);
  } catch (const std::exception& e) { // a page that cannot be read
    return fail(errc::unavailable, "the store in " + c.data.string() + " is damaged (" + e.what() +
                                       "): restore a backup, or move the folder away to begin anew");
  }
}

// 128 bits of the kernel's randomness. Not from the environment, whose next ids can be told from those given.
std::string random_password() {
  std::random_device device;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", device());
  return out;
}

using scripts = std::vector<std::shared_ptr<const rehearsal::script>>;

// A file takes the place of a built-in script of its name.
result<void> add_script(scripts& out, std::string_view text, const std::string& name,
                        const std::string& where) {
  auto script = rehearsal::parse_script(text, name);
  if (!script) return fail(errc::unprocessable, where + ": " + script.error().message);
  auto old = std::find_if(out.begin(), out.end(), [&](auto& s) { return s->name() == name; });
  if (old != out.end())
    *old = std::move(*script);
  else
    out.emplace_back(std::move(*script));
  return {};
}

result<scripts> read_scripts(const config& c) {
  scripts out;
  for (std::string name : {"default", "cast"}) {
    auto done = add_script(out, embedded("rehearsals/" + name + ".json"), name, "built in: " + name);
    if (!done) return done.error();
  }
  for (auto& file : c.rehearsals) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return fail(errc::unprocessable, "the rehearsal " + file + " cannot be read");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    auto done = add_script(out, text, std::filesystem::path(file).stem().string(), file);
    if (!done) return done.error();
  }
  return out;
}

caf::actor_system_config& configure(caf::actor_system_config& cfg, const config& c) {
  cfg.set("scheduler.policy", caf::atom("sharing")); // stealing workers burn a core while idle
  cfg.set("scheduler.max-threads", c.workers);
  cfg.set("scheduler.max-throughput", std::size_t{100});
  return cfg;
}

class house_impl final : public house {
public:
  house_impl(const config& c, std::shared_ptr<environment> env, std::shared_ptr<test_clock> clock,
             std::shared_ptr<storage::database> db)
      : config_(c),
        env_(std::move(env)),
        test_clock_(std::move(clock)),
        db_(std::move(db)),
        system_(configure(actors_config_, c)),
        host_(system_, [this](std::function<void()> task) { asio::post(io_, std::move(task)); }),
        signals_(io_, SIGINT, SIGTERM),
        housekeeping_(io_) {}

  // What the actors cannot end of, the process does: it is over in any case.
  // NOLINTNEXTLINE(bugprone-exception-escape)
  ~house_impl() override { end_actors(); }

  result<void> open() {
    auto scripts = read_scripts(config_);
    if (!scripts) return scripts.error();
    auto providers = providers_of(config_, process_variables());
    if (!providers) return providers.error();
    client_ = net::make_http_client(io_);
    net::registry_options options;
    options.max_context_window = config_.max_context_window;
    options.always_list_rehearsal = config_.list_rehearsals;
    registry_ = std::make_shared<net::registry>(io_, *client_, *env_, std::move(*providers),
                                                std::move(*scripts), options);
    streams_ = std::make_shared<net::run_streams>(io_, *env_, net::stream_limits{});
    start_actors();
    fill_services();
    auto http = config_.http;
    http.max_body = static_cast<std::size_t>(config_.max_body_mib) << 20;
    http.header_timeout = std::chrono::seconds(config_.header_s);
    http.body_timeout = std::chrono::seconds(config_.body_s);
    http.idle_timeout = std::chrono::seconds(config_.connection_idle_s);
    api_ = net::rest::make_api(services_);
    if (test_clock_) api_ = with_test_clock(std::move(api_), test_clock_);
    auto server = net::http::listen(io_, http, api_);
    if (!server) return server.error();
    server_ = std::move(*server);
    go_on();
    return {};
  }

  std::uint16_t port() const override { return server_->port(); }
  const std::string& password() const override { return services_.options.password; }

  void run(std::function<void(const std::string&, bool)> ready) override {
    asio::co_spawn(io_, make_ready(std::move(ready)), asio::detached);
    asio::co_spawn(io_, keep_house(), asio::detached);
    wait_for_signal();
    io_.run();
    spdlog::info("stopped");
  }

private:
  void start_actors() {
    auto front = std::make_shared<actors::foreground>();
    store_ = system_.spawn<caf::detached>(actors::store_writer, db_, actors::company{.front = front});
    streams_actor_ = net::spawn_streams(system_, &host_, streams_);
    net::models_options calls;
    models_ = net::spawn_models(system_, &host_, registry_, client_, streams_, *env_, calls);
    sandbox_ = net::spawn_sandbox(system_, &host_, io_, sandbox_options());
    auto deps = std::make_shared<actors::agent_deps>();
    deps->db = db_;
    deps->env = env_.get();
    deps->store = store_;
    deps->front = front;
    deps->models = models_;
    deps->sandbox = sandbox_;
    deps->streams = streams_actor_;
    actors::sleeper_deps background{db_, env_.get(), store_, front, {}};
    background.limits.most = config_.companions;
    if (test_clock_) background.limits.tick = background.limits.longest_sleep = clock_tick;
    sleeper_ = system_.spawn(actors::sleeper, std::move(background));
    deps->sleeper = sleeper_;
    deps->limits.max_queue = config_.queue;
    deps->limits.model_timeout = std::chrono::seconds(config_.model_timeout_s);
    deps->limits.traces.most = config_.traces;
    deps->limits.traces.most_bytes = config_.traces_mib << 20;
    actors::directory_limits limits;
    if (test_clock_) limits.tick = clock_tick;
    limits.idle = std::chrono::seconds(config_.idle_s);
    directory_ = system_.spawn(actors::directory, actors::agent_deps_ptr(std::move(deps)), limits);
    for (std::size_t i = 0; i < config_.workers; ++i)
      queries_.push_back(system_.spawn(actors::query_worker, db_));
    front_ = system_.spawn<net::front>(&host_);
  }

  net::sandbox_options sandbox_options() const {
    auto o = config_.sandbox;
    o.keeper.isolated = config_.tool_isolation == "none"         ? net::isolation::none
                        : config_.tool_isolation == "bubblewrap" ? net::isolation::bubblewrap
                                                                 : net::isolation::automatic;
    o.keeper.hidden = config_.data;
    o.keeper.hidden_variables = secret_variables(config_);
    return o;
  }

  void fill_services() {
    auto& s = services_;
    s.self = static_cast<net::front*>(caf::actor_cast<caf::abstract_actor*>(front_));
    s.db = db_;
    s.env = env_.get();
    s.store = store_;
    s.directory = directory_;
    s.calls = models_;
    s.sandbox = sandbox_;
    s.queries = queries_;
    s.models = registry_;
    s.client = client_;
    s.streams = streams_;
    s.options.version = compatible_version;
    s.options.troupe_version = TROUPE_VERSION;
    s.options.default_model = config_.default_model;
    s.options.default_embedding = config_.default_embedding;
    s.options.busy =
        json::enum_from<storage::busy_policy>(config_.busy).value_or(storage::busy_policy::queue);
    if (!config_.origins.empty()) s.options.origins = config_.origins;
    if (config_.secure) s.options.password = config_.password.empty() ? random_password() : config_.password;
  }

  // What a crash interrupted and what was promised: turns go on from their last durable step, calls back are made.
  void go_on() {
    streams_->on_callback = [this](const run_id& run) { net::rest::send_callback(services_, run); };
    for (auto& order : storage::pending_orders(*db_->snapshot())) {
      spdlog::info("run {} goes on", order->run_row.id.str());
      if (order->how == turn::mode::background)
        net::rest::restore_log(services_, order->run_row, order->request.include_pings);
      caf::anon_send(directory_, order);
    }
    caf::anon_send(sleeper_, caf::actor_cast<caf::actor>(directory_));
    net::rest::send_callbacks_due(services_);
  }

  net::awaitable<void> make_ready(std::function<void(const std::string&, bool)> ready) {
    co_await registry_->refresh_all();
    bool has_cast = false;
    if (config_.cast) {
      auto prepared = co_await prepare_cast(api_, services_.options.password);
      if (!prepared) spdlog::warn("{}", prepared.error().message);
      has_cast = prepared && *prepared;
    }
    ready(registry_->summary(), has_cast);
  }

  // What has to be looked at now and then.
  net::awaitable<void> keep_house() {
    for (;;) {
      housekeeping_.expires_after(30s);
      auto [ec] = co_await housekeeping_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (ec) co_return;
      streams_->sweep();
      net::rest::send_callbacks_due(services_); // of ends that were stored late, or by nobody's turn
      if (int n = storage::clear_dead_readers(*db_); n > 0)
        spdlog::warn("{} dead readers of the store were removed", n);
    }
  }

  void wait_for_signal() {
    signals_.async_wait([this](boost::system::error_code ec, int) {
      if (ec) return;
      if (stopping_) return leave();
      stopping_ = true;
      spdlog::info("stopping: {} connections", server_->connections());
      server_->stop(false);
      asio::co_spawn(io_, drain(), asio::detached);
      wait_for_signal();
    });
  }

  net::awaitable<void> drain() {
    asio::steady_timer pause(io_);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(config_.stop_s);
    while (server_->connections() > 0 && std::chrono::steady_clock::now() < end) {
      pause.expires_after(20ms);
      [[maybe_unused]] auto [ec] = co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    leave();
  }

  void leave() {
    server_->stop(true);
    housekeeping_.cancel();
    io_.stop();
  }

  // Top down: first those that ask, then those that are asked. Hosted ones end on this thread.
  void end_actors() {
    if (!front_) return;
    caf::anon_send_exit(front_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(sleeper_, caf::exit_reason::user_shutdown);
    caf::anon_send(directory_, actors::stop_atom_v);
    for (auto& q : queries_) caf::anon_send_exit(q, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(models_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(sandbox_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(streams_actor_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(store_, caf::exit_reason::user_shutdown);
    services_ = {};
    front_ = nullptr;
    sleeper_ = nullptr;
    directory_ = nullptr;
    queries_.clear();
    models_ = nullptr;
    sandbox_ = nullptr;
    streams_actor_ = nullptr;
    store_ = nullptr;
    io_.restart();
    for (int i = 0; i < 500 && system_.registry().running() > 0; ++i) io_.run_for(2ms);
    if (system_.registry().running() > 0) system_.await_actors_before_shutdown(false);
  }

  config config_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<test_clock> test_clock_; // the environment, where clients may set its clock
  std::shared_ptr<storage::database> db_;
  asio::io_context io_{1};
  caf::actor_system_config actors_config_;
  caf::actor_system system_;
  actors::host host_;
  asio::signal_set signals_;
  asio::steady_timer housekeeping_;
  bool stopping_ = false;
  std::shared_ptr<net::http_client> client_;
  std::shared_ptr<net::registry> registry_;
  std::shared_ptr<net::run_streams> streams_;
  actors::store_actor store_;
  actors::streams_actor streams_actor_;
  actors::models_actor models_;
  actors::sandbox_actor sandbox_;
  actors::sleeper_actor sleeper_;
  actors::directory_actor directory_;
  std::vector<actors::query_actor> queries_;
  caf::actor front_;
  net::rest::services services_;
  net::http::handler api_;
  std::unique_ptr<net::http::server> server_;
};

} // namespace

result<std::unique_ptr<house>> open_house(const config& c) {
  auto clock = c.test_clock ? std::make_shared<test_clock>() : nullptr;
  std::shared_ptr<environment> env = clock;
  if (!env) env = std::make_shared<system_environment>();
  auto db = open_store(c, *env);
  if (!db) return db.error();
  auto h = std::make_unique<house_impl>(c, std::move(env), std::move(clock), std::move(*db));
  if (auto done = h->open(); !done) return done.error();
  return std::unique_ptr<house>(std::move(h));
}

} // namespace troupe::runtime
