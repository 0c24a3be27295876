// Companions under crashes and beside other writers. A seed decides who is handled next, what the models say and when
// they fail; the process dies after each of its writes, one walk for each of them. In the end every exchange was told
// once, every trigger's run has ended well, and no edit of the shared block is lost or done twice.
// TROUPE_SEED=n repeats the walks of one seed; TROUPE_WALKS=n sets how many seeds there are.
#define CAF_SUITE sleeptime_walk
#include "storage/blocks.hpp"
#include "tests/actors/sleeptime_house.hpp"

#include <map>

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr std::uint64_t default_seeds = 12;
constexpr int exchanges = 5;
constexpr std::size_t never = 1'000'000;

struct broken : std::runtime_error {
  using runtime_error::runtime_error;
};
void must(bool holds, const std::string& what) {
  if (!holds) throw broken(what);
}
std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class sleeptime_walker : sleeptime_house {
public:
  // `crash_after`: the number of commits after which the process dies, once.
  sleeptime_walker(std::uint64_t seed, std::size_t crash_after)
      : sleeptime_house(seed), random_(seed), crash_after_(crash_after) {
    faults::set_handler([this](std::string_view at) {
      if (at == "store.commit") ++commits_;
      return faults::kind::none;
    });
  }
  ~sleeptime_walker() override { faults::set_handler(nullptr); }

  void go() {
    while (said_ < exchanges || !is_quiet()) {
      must(++steps_ < 100'000, "it does not come to an end");
      run_one_of(pick(ready()));
      if (commits_ >= crash_after_) die();
      if (pick(8) == 0) something_happens();
      check();
    }
    settle();
    check_end();
  }
  std::size_t commits() const { return commits_; }
  std::size_t companion_calls() const { return calls_.size(); }

private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  bool is_quiet() {
    if (talking_ && talking_->open()) return false;
    settle();
    note_calls();
    if (!desk->calls.empty()) return false;
    auto due = storage::next_due(*snapshot());
    if (due) advance_time(1s);
    return !due;
  }

  void die() {
    crash_after_ = never;
    talking_.reset();
    calls_before_crash_ = open_calls_.size();
    open_calls_.clear();
    crash();
  }

  void something_happens() {
    auto dice = pick(10);
    if (dice < 4) return talk_on();
    if (dice < 8) return let_model_answer();
    if (dice == 8) return write_from_outside();
    advance_time(std::chrono::milliseconds(pick(2000)));
  }

  void talk_on() {
    if ((talking_ && talking_->open()) || said_ >= exchanges) return;
    ++said_;
    talking_ = send(ada, "exchange-" + std::to_string(said_) + ".");
  }

  // Every call of the companion is counted once.
  void note_calls() {
    auto who = companion();
    for (auto& c : desk->calls) {
      auto row = storage::find_run(*snapshot(), c.of());
      if (row && row->agent == who && calls_.insert(c.step()).second) open_calls_.insert(c.step());
    }
  }

  void let_model_answer() {
    note_calls();
    if (desk->calls.empty()) return;
    auto index = pick(desk->calls.size());
    auto& call = desk->calls[index];
    auto row = storage::find_run(*snapshot(), call.of());
    open_calls_.erase(call.step());
    bool first = row && row->steps.empty();
    auto fact = "fact-" + std::to_string(++facts_) + ".";
    if (row && row->agent == ada)
      answer_model(index, first ? call_reply({append_call(fact, fact)}) : text_reply("well"));
    else if (pick(6) == 0 && failures_++ < 2)
      answer_model(index, overloaded());
    else if (pick(3) != 0)
      answer_model(index, call_reply({insert_call(fact, fact)}));
    else
      answer_model(index, text_reply("noted"));
  }

  void write_from_outside() {
    auto fact = "outside-" + std::to_string(++facts_) + ".";
    auto done = write([=, this](storage::transaction& t) -> result<void> {
      auto b = storage::blocks_of_agent(t, ada).front();
      update_block change;
      change.value = b.value + "\n" + fact;
      auto changed = storage::change_block(t, b, change, env);
      if (!changed) return changed.error();
      return {};
    });
    edits_.emplace_back(fact, done);
  }

  // I3 and I5, at every moment.
  void check() {
    auto j = job();
    if (!j) return;
    must(j->accepted >= accepted_, "I3: the cursor moved backwards");
    accepted_ = j->accepted;
    must(j->accepted <= j->upto, "I3: the cursor passed what there is");
    if (j->working) must(j->working->upto > j->accepted, "I4: what is told was told already");
    std::size_t calling = 0;
    auto who = companion();
    for (auto& c : desk->calls) {
      auto row = storage::find_run(*snapshot(), c.of());
      calling += !c.abandoned && row && row->agent == who;
    }
    must(calling <= 1, "I5: two runs at once");
  }

  void check_end() {
    std::string told;
    for (auto& letter : letters()) told += letter + "\n";
    std::string said;
    for (auto& line : history(ada)) said += line + "\n";
    for (int i = 1; i <= said_; ++i) {
      auto line = "exchange-" + std::to_string(i) + ".";
      must(times(told, line) <= 1, "I4: told twice: " + line);
    }
    check_coverage(said, told);
    check_runs();
    check_block();
    must(calls_before_crash_ <= 1, "more than one call was repeated");
  }

  // What was triggered is told: all up to the last trigger.
  void check_coverage(const std::string& said, const std::string& told) {
    auto j = job();
    if (!j) return;
    must(j->accepted == j->upto, "a trigger was lost");
    storage::history_query q;
    q.limit = 100'000;
    q.before = j->upto + 1;
    for (auto& m : storage::history(*snapshot(), ada, q))
      if (auto text = text_of(*m); text.starts_with("exchange-"))
        must(times(told, text) == times(said, text), "not told: " + text);
  }

  void check_runs() {
    storage::run_query q;
    q.limit = 10'000;
    q.agents = {companion()};
    for (auto& r : storage::list_runs(*snapshot(), default_org_id(), q))
      must(r.status == run_status::completed, "the run " + r.id.str() + " did not complete");
  }

  // I9: what tools say they wrote is there once, and so is what others wrote.
  void check_block() {
    auto value = block_value(ada);
    storage::history_query q;
    q.limit = 100'000;
    for (auto& who : {ada, companion()})
      for (auto& m : storage::history(*snapshot(), who, q))
        for (auto& x : m->tool_returns) {
          auto fact = x.tool_call_id.value_or("");
          must(times(value, fact) == (x.status == return_status::success ? 1u : 0u), "I9: " + fact);
        }
    for (auto& [fact, done] : edits_)
      if (done->value) must(times(value, fact) == 1, "I9: an edit was lost: " + fact);
  }

  std::mt19937_64 random_;
  std::size_t crash_after_, commits_ = 0, steps_ = 0, calls_before_crash_ = 0;
  int said_ = 0, facts_ = 0, failures_ = 0;
  std::uint64_t accepted_ = 0;
  std::optional<sent_turn> talking_;
  std::set<uuid> calls_, open_calls_; // of the companion; those that nobody answered yet
  std::vector<std::pair<std::string, answer_ptr<actors::done>>> edits_;
};

std::string wrong_with(std::uint64_t seed, std::size_t crash_after, std::size_t& commits) {
  try {
    sleeptime_walker w(seed, crash_after);
    w.go();
    commits = w.commits();
  } catch (const std::exception& e) { return e.what(); }
  return "";
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  auto* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace

CAF_TEST(nothing is lost and nothing is done twice wherever the process dies) {
  auto only = number_of("TROUPE_SEED", 0);
  auto seeds = only ? 1 : number_of("TROUPE_WALKS", default_seeds);
  for (std::uint64_t i = 0; i < seeds; ++i) {
    auto seed = only ? only : i + 1;
    std::size_t commits = 0;
    auto wrong = wrong_with(seed, never, commits);
    if (!wrong.empty()) CAF_FAIL("TROUPE_SEED=" << seed << ": " << wrong);
    for (std::size_t at = 1, last = commits; at <= last; ++at) {
      wrong = wrong_with(seed, at, commits);
      if (!wrong.empty()) CAF_FAIL("TROUPE_SEED=" << seed << " dies after commit " << at << ": " << wrong);
      CAF_CHECK(wrong.empty());
    }
  }
}
