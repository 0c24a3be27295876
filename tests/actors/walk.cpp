// Random walks over two agents and a conversation with each: a seed decides what clients, the model, the clock and the
// disk do, and whose message is handled next. After every step the invariants of the design hold. TROUPE_SEED=n repeats
// one walk and prints its steps; TROUPE_WALKS=n sets how many there are.
#define CAF_SUITE walk
#include "core/json/value.hpp"
#include "storage/blocks.hpp"
#include "storage/messages.hpp"
#include "storage/pending.hpp"
#include "tests/actors/fixture.hpp"

#include <iostream>
#include <map>

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr int default_walks = 1000;
constexpr int steps_of_a_walk = 60;

struct broken : std::runtime_error {
  using runtime_error::runtime_error;
};
void must(bool holds, const std::string& what) {
  if (!holds) throw broken(what);
}

class walker : house {
public:
  walker(std::uint64_t seed, bool loud)
      : house(seed, patient_for(30s, 5), leaving_after(20s)), random_(seed), loud_(loud) {
    agents_.push_back(make_agent({.tools = {"core_memory_append", "core_memory_replace"}, .gated = {}}));
    agents_.push_back(make_agent(
        {.tools = {"core_memory_append", "core_memory_replace"}, .gated = {"core_memory_append"}}));
    for (auto& a : agents_) {
      threads_.push_back({a, std::nullopt});
      threads_.push_back({a, make_conversation(a)});
    }
  }
  ~walker() override { faults::set_handler(nullptr); }

  void go() {
    for (int i = 0; i < steps_of_a_walk; ++i) {
      step_once();
      for (auto n = pick(12); n > 0; --n) run_one_of(pick(ready()));
      check();
    }
    finish();
  }
  const std::string& last() const { return last_; }

private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  const agent_id& any_agent() { return agents_[pick(agents_.size())]; }
  const storage::context_key& any_thread() { return threads_[pick(threads_.size())]; }
  std::string fresh(const std::string& what) { return what + "-" + std::to_string(++names_) + "."; }
  void note(std::string what) {
    last_ = std::move(what);
    if (loud_) std::cerr << last_ << "\n";
  }

  // The run goes on without its client, also over a restart.
  static bool outlives(const sent_turn& t) { return t.how == mode::background || t.how == mode::async; }

  // -- what happens -----------------------------------------------------------------------------
  void step_once() {
    auto dice = pick(100);
    if (dice < 25) return ask_turn();
    if (dice < 55) return let_model_answer();
    if (dice < 65) return cancel_one();
    if (dice < 72) return decide_approval();
    if (dice < 77) return change_memory();
    if (dice < 82) return follow();
    if (dice < 86) return leave();
    if (dice < 91) return let_time_pass();
    if (dice < 94) return fill_disk();
    if (dice < 97) return note("settle"), settle();
    note("crash");
    faults::set_handler(nullptr);
    readers_.clear();
    std::erase_if(turns_, [](auto& t) { return t.open() || !outlives(t); }); // their clients are gone
    asked_.clear();
    for (auto& e : edits_) e.before_crash = true;
    crash();
    for (auto& id : storage::active_runs(*snapshot()))
      must(storage::is_pending(*snapshot(), id),
           "I14: a run is active after a restart and nobody goes on with it");
  }

  void ask_turn() {
    static constexpr mode modes[] = {mode::blocking, mode::blocking, mode::stream, mode::background,
                                     mode::async};
    auto text = fresh("user");
    note("send " + text);
    auto& thread = any_thread();
    turns_.push_back(send(thread.agent, text_request(text), modes[pick(5)], thread.conversation));
  }

  tool_call any_call() {
    auto id = fresh("call");
    auto kind = pick(10);
    if (kind == 0) return {id, "no_such_tool", "{}"};
    if (kind == 1)
      return {id, "core_memory_replace",
              R"({"label":"human","old_content":"nobody wrote this","new_content":""})"};
    auto content = fresh("fact");
    facts_[id] = content;
    return append_call(id, content);
  }

  void let_model_answer() {
    if (desk->calls.empty()) return note("no call waits");
    auto index = pick(desk->calls.size());
    auto& call = desk->calls[index];
    auto text = fresh("model");
    auto row = storage::find_run(*snapshot(), call.of());
    if (call.abandoned || (row && is_terminal(row->status))) unwanted_.insert(text);
    note("model: " + text);
    auto kind = pick(10);
    if (kind == 0)
      return answer_model(index, llm_failure(errc::llm_error, "LLMError", "INTERNAL_SERVER_ERROR: no"));
    if (kind < 5) return answer_model(index, text_reply(text));
    std::vector<tool_call> calls;
    for (auto n = 1 + pick(3); n > 0; --n) calls.push_back(any_call());
    answer_model(index, call_reply(std::move(calls), text));
  }

  void cancel_one() {
    if (turns_.empty()) return note("nothing to cancel");
    auto& turn = turns_[turns_.size() - 1 - pick(std::min<std::size_t>(turns_.size(), 4))];
    note("cancel " + turn.id.str());
    asked_.push_back(cancel(turn));
  }

  void decide_approval() {
    auto& thread = any_thread();
    auto context = storage::context_messages(*snapshot(), thread);
    if (!is_approval_request(*context.back())) return note("nothing to approve");
    lines ids;
    for (auto& c : context.back()->tool_calls) ids.push_back(c.id);
    bool yes = pick(2) == 0;
    note(yes ? "approve" : "deny");
    turns_.push_back(decide(thread.agent, ids, yes, mode::blocking, thread.conversation));
  }

  void change_memory() {
    auto agent = any_agent();
    auto text = fresh("edit");
    note("write " + text);
    auto done = write([=, this](storage::transaction& t) -> result<void> {
      auto b = storage::blocks_of_agent(t, agent).front();
      update_block change;
      change.value = b.value + "\n" + text;
      auto changed = storage::change_block(t, b, change, env);
      if (!changed) return changed.error();
      return {};
    });
    edits_.push_back({agent, text, done, false});
  }

  void follow() {
    if (turns_.empty()) return note("nothing to follow");
    auto& turn = turns_[pick(turns_.size())];
    if (turn.how != mode::stream && turn.how != mode::background) return note("no stream");
    note("follow " + turn.id.str());
    readers_.push_back(attach(turn.id));
  }

  void leave() {
    if (readers_.empty()) return note("nobody to leave");
    note("a reader leaves");
    auto at = pick(readers_.size());
    if (pick(2)) house::read(*readers_[at]);
    readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void let_time_pass() {
    auto ms = std::chrono::milliseconds(100 + pick(12'000));
    note("time passes: " + std::to_string(ms.count()) + " ms");
    if (pick(2))
      advance_time(ms);
    else
      pass(ms);
  }

  void fill_disk() {
    auto left = std::make_shared<std::size_t>(1 + pick(3));
    disk_was_full_ = true; // the end of a run may be stored while the next one runs
    note("the disk is full for " + std::to_string(*left) + " commits");
    faults::set_handler([left](std::string_view at) {
      if (at != "store.commit" || *left == 0) return faults::kind::none;
      --*left;
      return faults::kind::disk_full;
    });
  }

  // -- what holds -------------------------------------------------------------------------------
  void check() {
    auto r = snapshot();
    for (auto& thread : threads_) {
      check_calls(*r, thread);
      check_running(*r, thread);
    }
    for (auto& a : agents_) check_history(*r, a);
    check_answers(*r);
    for (auto& id : readable_)
      must(storage::find_message_place(*r, id).has_value(), "I13: " + id.str() + " is gone");
  }

  // I1: every call in a context has exactly one return; only a request for approval at its end may wait.
  void check_calls(const storage::reader& r, const storage::context_key& thread) {
    auto context = storage::context_messages(r, thread);
    std::set<std::string> open, seen;
    for (auto& m : context) {
      if (m->role != message_role::tool && !(m->role == message_role::approval && m->tool_calls.empty()) &&
          !is_approval_request(*m))
        must(open.empty(), "I1: a call without a return before " + m->id.str());
      for (auto& c : m->tool_calls) {
        must(seen.insert(c.id).second, "I1: the call " + c.id + " is there twice");
        open.insert(c.id);
      }
      for (auto& x : m->tool_returns)
        must(open.erase(x.tool_call_id.value_or("")) == 1,
             "I1: a return too many of " + x.tool_call_id.value_or(""));
      must(m->conversation == thread.conversation, "a message in a thread that is not its own");
    }
    must(open.empty() || is_approval_request(*context.back()), "I1: a call without a return");
  }

  // Nothing twice, nothing of replies that came too late (I12), nothing more of a cancelled run.
  void check_history(const storage::reader& r, const agent_id& a) {
    storage::history_query q;
    q.limit = 100'000;
    std::set<std::string> texts;
    std::map<run_id, std::size_t> count;
    for (auto& m : storage::history(r, a, q)) {
      if (m->run) ++count[*m->run];
      auto text = text_of(*m);
      if (!text.starts_with("user-") && !text.starts_with("model-")) continue; // the automatic ones
      must(texts.insert(text).second, "twice in the history: " + text);
      must(!unwanted_.contains(text), "I12: a late reply is in the history: " + text);
    }
    for (auto& [id, bytes] : ended_) {
      auto row = storage::find_run(r, id);
      if (!row || row->agent != a) continue;
      auto [it, first] = messages_.emplace(id, count[id]);
      must(first || it->second == count[id], "I12: more messages of a run that has ended: " + id.str());
    }
  }

  // I2: one running turn a thread; I6: what has ended stays as it is.
  void check_running(const storage::reader& r, const storage::context_key& thread) {
    std::size_t running = 0;
    storage::run_query q;
    q.limit = 100'000;
    q.agents = {thread.agent};
    for (auto& row : storage::list_runs(r, default_org_id(), q)) {
      if (row.conversation != thread.conversation) continue;
      running += row.status == run_status::running;
      if (!is_terminal(row.status)) {
        must(!ended_.contains(row.id), "I6: a run that had ended goes on");
        continue;
      }
      auto bytes = codec::encode(row);
      auto [it, first] = ended_.emplace(row.id, bytes);
      must(first || it->second == bytes, "I6: a run that had ended is different: " + row.id.str());
    }
    std::size_t calling = 0;
    for (auto& c : desk->calls) {
      auto row = storage::find_run(r, c.of());
      calling +=
          !c.abandoned && row && row->agent == thread.agent && row->conversation == thread.conversation;
    }
    must(running <= 1 || disk_was_full_, "I2: " + std::to_string(running) + " runs are running");
    must(calling <= 1, "I2: " + std::to_string(calling) + " calls of the model");
  }

  // I13: what an answer names can be read. I7: its usage is the sum of its steps'.
  void check_answers(const storage::reader& r) {
    for (auto& t : turns_) {
      if (t.open() || !checked_.insert(t.id).second) continue;
      if (!t.reply->value) continue;
      auto row = storage::find_run(r, t.id);
      must(row.has_value(), "I13: an accepted run is not there: " + t.id.str());
      if (t.how != mode::blocking) continue;
      must(is_terminal(row->status), "an answered run has not ended");
      auto body = *json::try_parse(t.body());
      for (auto& m : json::find(body, "messages")->get_array())
        readable_.insert(
            message_id::parse(json::string_or(m.get_object(), "id").substr(0, message_id::text_size))
                .value());
      std::int64_t total = 0;
      for (auto& s : storage::steps_of(r, *row)) total += s.total_tokens;
      must(json::find(*json::find(body, "usage"), "total_tokens")->to_number<std::int64_t>() == total,
           "I7: the usage of " + t.id.str() + " is not the sum of its steps'");
    }
  }

  // -- the end: everything is answered, nothing is open, the next turn works, no edit was lost ------
  void answer_all() {
    for (;;) {
      settle();
      auto it = std::find_if(desk->calls.begin(), desk->calls.end(), [](auto& c) { return !c.abandoned; });
      if (it == desk->calls.end()) return;
      answer_model(static_cast<std::size_t>(it - desk->calls.begin()), text_reply(fresh("model")));
    }
  }

  void finish() {
    note("the end");
    faults::set_handler(nullptr);
    answer_all();
    pass(3s);
    check();
    for (auto& t : turns_) must(!t.open(), "a request was never answered: " + t.id.str());
    for (auto& a : asked_) must(!a->open(), "a cancellation was never answered");
    for (auto& e : edits_) must(!e.done->open() || e.before_crash, "a write was never answered");
    must(storage::active_runs(*snapshot()).empty(), "a run is still active");
    for (auto& thread : threads_) check_next_turn(thread);
    check_memory();
    check();
  }

  void check_next_turn(const storage::context_key& thread) {
    auto context = storage::context_messages(*snapshot(), thread);
    if (is_approval_request(*context.back())) {
      lines ids;
      for (auto& c : context.back()->tool_calls) ids.push_back(c.id);
      auto denied = decide(thread.agent, ids, false, mode::blocking, thread.conversation);
      answer_all();
      must(denied.reply->value.has_value(), "I14: the denial at the end failed");
    }
    auto turn = send(thread.agent, text_request(fresh("user")), mode::blocking, thread.conversation);
    answer_all();
    must(turn.reply->value.has_value(), "I14: the turn at the end failed");
  }

  // What tools wrote and what was acknowledged to others is there, once.
  void check_memory() {
    auto r = snapshot();
    storage::history_query q;
    q.limit = 100'000;
    auto times = [](const std::string& text, const std::string& part) {
      std::size_t n = 0;
      for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
      return n;
    };
    for (auto& a : agents_) {
      auto value = block_value(a);
      for (auto& m : storage::history(*r, a, q))
        for (auto& x : m->tool_returns) {
          auto fact = facts_.find(x.tool_call_id.value_or(""));
          if (fact == facts_.end()) continue;
          std::size_t wanted = x.status == return_status::success ? 1 : 0;
          must(times(value, fact->second) == wanted, "I9: " + fact->second + " of " + fact->first);
        }
      for (auto& e : edits_)
        if (e.agent == a && e.done->value) must(times(value, e.text) == 1, "I9: an edit was lost: " + e.text);
    }
  }

  struct memory_change {
    agent_id agent;
    std::string text;
    answer_ptr<actors::done> done;
    bool before_crash = false; // its client is gone
  };

  std::mt19937_64 random_;
  bool loud_;
  bool disk_was_full_ = false;
  int names_ = 0;
  std::string last_;
  std::vector<agent_id> agents_;
  std::vector<storage::context_key> threads_; // each agent's own, and a conversation with it
  std::vector<sent_turn> turns_;
  std::vector<answer_ptr<bool>> asked_;
  std::vector<memory_change> edits_;
  std::vector<std::shared_ptr<event_reader>> readers_;
  std::map<std::string, std::string> facts_; // call -> what it appends
  std::set<std::string> unwanted_;
  std::map<run_id, std::string> ended_;
  std::map<run_id, std::size_t> messages_; // of runs that have ended
  std::set<run_id> checked_;
  std::set<message_id> readable_;
};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  auto* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What is wrong with a walk; empty: nothing.
std::string wrong_with(std::uint64_t seed, bool loud) {
  walker w(seed, loud);
  try {
    w.go();
  } catch (const std::exception& e) { return std::string(e.what()) + " (after: " + w.last() + ")"; }
  return "";
}

} // namespace

CAF_TEST(invariants hold on random walks) {
  auto only = number_of("TROUPE_SEED", 0);
  auto walks = only ? 1 : number_of("TROUPE_WALKS", default_walks);
  for (std::uint64_t i = 0; i < walks; ++i) {
    auto seed = only ? only : i + 1;
    auto wrong = wrong_with(seed, only != 0);
    if (!wrong.empty()) CAF_FAIL("TROUPE_SEED=" << seed << ": " << wrong);
    CAF_CHECK(wrong.empty());
  }
}
