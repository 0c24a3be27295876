// A whole server without its sockets, in one thread: a store in a folder of its own, the writer, the directory with
// its agents, query workers, the real event logs, and a model that answers when the test says so. Messages are
// handled when the test lets them be; time passes when the test lets it pass; ids come from a seed (docs/testing.md).
#pragma once

#include "actors/directory.hpp"
#include "actors/query.hpp"
#include "actors/sleeper.hpp"
#include "actors/store_writer.hpp"
#include "net/events/run_streams.hpp"
#include "storage/agents.hpp"
#include "storage/faults.hpp"
#include "storage/runs.hpp"

#include <boost/asio/io_context.hpp>
#include <caf/test/dsl.hpp> // defines macros with common names: after everything else

#include "testing/rehearsed_model.hpp"
#include "testing/sandbox_desk.hpp"
#include <filesystem>
#include <random>
#include <set>

namespace troupe::test {

using namespace std::chrono_literals;
using lines = std::vector<std::string>;
namespace asio = boost::asio;
using turn::mode;

// The scheduler's clock, and a generator that is seeded.
class virtual_environment final : public environment {
public:
  virtual_environment(caf::scheduler::test_coordinator& s, std::uint64_t seed)
      : scheduler_(s), generator_(seed) {}
  timestamp now() override;
  uuid random_uuid() override;
  std::int64_t monotonic_ns() override;

private:
  caf::scheduler::test_coordinator& scheduler_;
  std::mt19937_64 generator_;
};

// Who acts in all requests.
inline actor acting() { return {default_user_id(), default_org_id()}; }

// What became of a request.
template <class T> struct answer {
  std::optional<T> value;
  std::optional<error> failure;
  bool open() const { return !value && !failure; }
  // The code of the failure; nothing where it is open or went well.
  std::optional<errc> code() const { return failure ? std::optional(failure->code) : std::nullopt; }
};
template <class T> using answer_ptr = std::shared_ptr<answer<T>>;

// The calls that wait for the model, in order of arrival. An abandoned one stays, so that a test can answer too late.
struct model_desk {
  struct call {
    actors::model_call_ptr what;
    actors::model_body_ptr body; // in the protocol of the provider
    caf::typed_response_promise<actors::model_result_ptr> promise;
    caf::strong_actor_ptr caller;
    bool abandoned = false;
    run_id of() const { return what->chunks.run; }
    uuid step() const { return what->chunks.step.value; }
  };
  std::vector<call> calls;
  std::size_t count(const run_id& run) const;
};

struct agent_options {
  std::vector<std::string> tools = {}; // names of base tools
  std::vector<std::string> gated = {}; // of them, those that need an approval
  std::string human = "";              // the value of the block `human`
  bool parallel_tool_calls = true;
  std::string name = "";    // empty: a random one
  std::string persona = ""; // the value of the block `persona`; empty: no such block
};

// A turn that was asked for.
struct sent_turn {
  run_id id;
  agent_id agent;
  std::optional<conversation_id> conversation;
  mode how = mode::blocking;
  answer_ptr<actors::turn_answer> reply;
  bool open() const { return reply->open(); }
  std::optional<errc> code() const { return reply->code(); }
  const std::string& body() const { return reply->value->body; }
};

// A connection that follows a run's events.
struct event_reader {
  std::shared_ptr<net::http::event_source> source;
  lines events;
  bool ended = false;
};

// Limits that a test can wait for.
inline actors::agent_limits patient_for(std::chrono::milliseconds model, std::size_t max_queue = 64) {
  actors::agent_limits l;
  l.model_timeout = model;
  l.max_queue = max_queue;
  return l;
}
inline actors::directory_limits leaving_after(std::chrono::milliseconds idle) {
  actors::directory_limits l;
  l.idle = idle;
  return l;
}

class house : public test_coordinator_fixture<> {
public:
  explicit house(std::uint64_t seed = 1, actors::agent_limits limits = {},
                 actors::directory_limits directory_limits = {});
  ~house() override;

  // -- life of the process
  void start();
  void crash(); // every actor is dropped where it is; the store is opened anew, and what may goes on
  void stop_actors();

  // -- progress
  void settle();                          // until nobody has anything to do; time stands still
  void pass(std::chrono::milliseconds t); // time, with everything that happens in it
  template <class H> void hold(const H& h) { held_.insert(resumable_of(h)); } // its mailbox waits
  // The next message of one mailbox, held or not.
  template <class H> void step(const H& h) {
    CAF_REQUIRE(sched.prioritize(h));
    sched.run_once();
  }
  void release();                      // nobody is held any more
  bool run_one_of(std::size_t choice); // one message of one of the mailboxes that have some
  std::size_t ready() const { return sched.jobs.size() + 1; }

  // -- the store, past every actor
  std::unique_ptr<storage::reader> snapshot() const { return db->snapshot(); }
  result<void> commit(std::function<result<void>(storage::transaction&)> apply);
  agent_id make_agent(const agent_options& options = {});
  conversation_id make_conversation(const agent_id& of); // with a copy of the agent's system message
  troupe::run row(const run_id& id) const;
  // role: text, calls as name(arguments), returns as name -> status; the system message is left out.
  lines history(const agent_id& id) const;
  std::string last_line(const agent_id& id) const { return history(id).back(); }
  std::string block_value(const agent_id& id, std::string_view label = "human") const;
  void change_block(const agent_id& id, std::string value, std::string_view label = "human");

  // -- requests; nothing runs before the test lets it
  sent_turn send(const agent_id& to, std::string text, mode how = mode::blocking);
  sent_turn send(const agent_id& to, send_request request, mode how,
                 std::optional<conversation_id> conversation = std::nullopt);
  sent_turn decide(const agent_id& to, const std::vector<std::string>& call_ids, bool approve,
                   mode how = mode::blocking, std::optional<conversation_id> conversation = std::nullopt);
  answer_ptr<bool> cancel(const sent_turn& t);
  answer_ptr<actors::done> edit(const agent_id& context,
                                std::function<result<void>(storage::transaction&)> apply);
  answer_ptr<actors::done> write(std::function<result<void>(storage::transaction&)> apply);
  answer_ptr<std::string> query(std::function<result<std::string>(const storage::reader&)> read);
  std::size_t resident(); // contexts in memory
  template <class R, class Handle, class... Ts> answer_ptr<R> ask(const Handle& to, Ts... xs);

  // -- groups
  group make_group(manager_type type, std::vector<agent_id> members,
                   std::optional<agent_id> manager = std::nullopt, const group_options& options = {});
  sent_turn tell(const group& g, std::string text, mode how = mode::blocking);
  lines said_in(const group& g) const; // name: text, each utterance once

  // -- the model
  // From now on calls are answered from a rehearsal script, whenever everything settles.
  void rehearse(std::string_view script) { rehearsed_.emplace(script); }
  caf::actor caller() const;                 // the agent whose call waits
  const model_desk::call& only_call() const; // exactly one waits
  void answer_model(std::size_t index, result<model_reply> reply, bool visible = false);
  void answer_tool(std::size_t index,
                   std::string outcome); // JSON of what its process says; everything settles
  void say(std::string text);            // the only call is answered, and everything settles
  void say(result<model_reply> reply);
  void show_token(const run_id& run, std::string data); // as the model's stream does

  // -- event streams
  std::shared_ptr<event_reader> attach(const run_id& run, std::uint64_t after = 0);
  void read(event_reader& r);   // what is there
  lines kinds(event_reader& r); // message types of all events so far

  virtual_environment env;
  asio::io_context io{1};
  actors::host io_host;
  std::filesystem::path folder;
  std::shared_ptr<storage::database> db;
  actors::agent_limits limits;
  actors::directory_limits directory_limits;
  actors::sleeper_limits sleeper_limits{.pause = {}}; // companions begin at once
  std::shared_ptr<model_desk> desk = std::make_shared<model_desk>();
  std::shared_ptr<sandbox_desk> tool_desk = std::make_shared<sandbox_desk>();
  std::shared_ptr<net::run_streams> streams;
  actors::store_actor store;
  actors::query_actor queries;
  actors::models_actor models;
  actors::sandbox_actor sandbox;
  actors::streams_actor streams_actor;
  actors::sleeper_actor sleeper;
  actors::directory_actor directory;

private:
  template <class H> static caf::resumable* resumable_of(const H& h) {
    return dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(h));
  }
  void open_store();
  void run_ready();
  bool answer_rehearsed(); // true where a call had its reply
  std::shared_ptr<storage::turn_order> new_order(const agent_id& to, send_request request, mode how);
  sent_turn submit(std::shared_ptr<storage::turn_order> order);
  std::optional<rehearsed_model> rehearsed_;
  std::set<caf::resumable*> held_;
  std::vector<caf::actor_addr> clients_;
};

template <class R, class Handle, class... Ts> answer_ptr<R> house::ask(const Handle& to, Ts... xs) {
  auto out = std::make_shared<answer<R>>();
  auto client = sys.spawn([=](caf::event_based_actor* me) {
    me->request(to, caf::infinite, xs...)
        .then([out](R& r) { out->value = std::move(r); },
              [out](const caf::error& e) { out->failure = actors::from_caf(e); });
  });
  clients_.push_back(caf::actor_cast<caf::actor_addr>(client));
  return out;
}

// -- what the model says --------------------------------------------------------------------------
inline constexpr std::int64_t prompt_tokens = 100, completion_tokens = 7; // of every reply
model_reply text_reply(std::string text);
model_reply call_reply(std::vector<tool_call> calls, std::string text = "");
tool_call append_call(std::string id, std::string content); // core_memory_append to the block `human`
send_request text_request(std::string text);

// Makes the n-th passing of a fault point fail (1: the next one), once or from then on; disarms itself at its end.
class armed_fault {
public:
  armed_fault(std::string point, faults::kind what, int nth = 1, bool for_good = true);
  ~armed_fault() { faults::set_handler(nullptr); }
  armed_fault(const armed_fault&) = delete;
  armed_fault& operator=(const armed_fault&) = delete;
};

} // namespace troupe::test
