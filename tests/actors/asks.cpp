// Agents that ask each other (reference: groups §7.7; goal G8): nobody waits for ever, every circle is refused at once
// and named.
#define CAF_SUITE asks
#include "core/json/value.hpp"
#include "tests/actors/fixture.hpp"

#include <chrono>

using namespace troupe;
using namespace troupe::test;

namespace {

uuid node(int n) {
  uuid u;
  u.bytes[15] = static_cast<std::uint8_t>(n);
  return u;
}

// What a model was sent is long, and nobody reads it here.
actors::agent_limits without_traces() {
  actors::agent_limits l;
  l.traces.most = 0;
  return l;
}

const agent_options asker{.tools = {"send_message_to_agent_and_wait_for_reply"}, .gated = {}};

// One agent after another asks, answers, or is cancelled; what they do is drawn.
class crowd : public house {
public:
  explicit crowd(std::size_t n, std::uint64_t seed) : house(seed, without_traces()), random_(seed) {
    for (std::size_t i = 0; i < n; ++i) agents_.push_back(make_agent(asker));
  }

  void run(std::size_t asks) {
    std::vector<sent_turn> open;
    while (asks_ < asks || !open.empty()) {
      std::erase_if(open, [](auto& t) { return !t.open(); });
      if (asks_ < asks && open.size() < agents_.size() / 2) open.push_back(send(any(), "go"));
      settle();
      if (desk->calls.empty() && asks_ < asks) continue;
      CAF_REQUIRE(!desk->calls.empty() || open.empty()); // a stall
      for (auto n = desk->calls.size(); n > 0; --n) answer_one(n - 1, asks);
      settle();
      std::erase_if(open, [](auto& t) { return !t.open(); });
    }
  }
  std::size_t asks() const { return asks_; }
  std::size_t refused() const { return refused_; }

private:
  const agent_id& any() { return agents_[static_cast<std::size_t>(random_() % agents_.size())]; }

  void answer_one(std::size_t i, std::size_t most) {
    auto& body = *desk->calls[i].body;
    if (auto at = body.rfind("would_deadlock");
        at != std::string::npos && at + 400 > body.rfind("\"role\":\"tool\""))
      ++refused_;
    if (asks_ >= most || random_() % 100 < 35) return answer_model(i, text_reply("yes"));
    ++asks_;
    json::object arguments;
    arguments["message"] = "?";
    arguments["other_agent_id"] = boost::json::string(any().str());
    answer_model(i, call_reply({{"c" + std::to_string(asks_), "send_message_to_agent_and_wait_for_reply",
                                 json::print(json::value(arguments))}}));
  }

  std::mt19937_64 random_;
  std::vector<agent_id> agents_;
  std::size_t asks_ = 0, refused_ = 0;
};

model_reply asks(const agent_id& whom) {
  return call_reply({{"c1", "send_message_to_agent_and_wait_for_reply",
                      R"({"message":"?","other_agent_id":")" + whom.str() + R"("})"}});
}

// Agent a has asked agent b within its turn, and waits: the call that is open is b's.
class asking : public house {
public:
  explicit asking(const agent_options& asked = {}, actors::agent_limits limits = {})
      : house(1, std::move(limits)), a(make_agent(asker)), b(make_agent(asked)), turn(send(a, "ask b")) {
    settle();
    say(asks(b));
  }

  agent_id a, b;
  sent_turn turn;
};

} // namespace

CAF_TEST(a graph of waits never has a circle) {
  actors::wait_graph g;
  std::mt19937_64 random(7);
  std::vector<std::pair<uuid, uuid>> live;
  std::size_t refused = 0;
  double longest_ms = 0;
  for (int i = 0; i < 10'000; ++i) {
    auto a = node(static_cast<int>(random() % 50)), b = node(static_cast<int>(random() % 50));
    auto began = std::chrono::steady_clock::now();
    auto cycle = g.begin(a, b);
    longest_ms =
        std::max(longest_ms,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    if (cycle) {
      ++refused;
      CAF_REQUIRE(cycle->size() >= 2 && cycle->front() == a && cycle->back() == a);
      // Every step of what is named is a wait that is really there, but for the one that was refused.
      for (std::size_t k = 1; k + 1 < cycle->size(); ++k)
        CAF_REQUIRE(std::find(live.begin(), live.end(), std::pair((*cycle)[k], (*cycle)[k + 1])) !=
                    live.end());
    } else {
      live.emplace_back(a, b);
    }
    if (live.size() > 40) {
      auto k = static_cast<std::size_t>(random() % live.size());
      g.end(live[k].first, live[k].second);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  for (auto& [a, b] : live) g.end(a, b);
  CAF_CHECK_EQUAL(g.edges(), 0u);
  CAF_CHECK(refused > 100);
  CAF_MESSAGE("10,000 waits, " << refused << " refused, the longest took " << longest_ms << " ms");
}

CAF_TEST(an answer comes back as the result of the tool) {
  asking h;
  h.say("fine");
  CAF_CHECK(h.only_call().body->find("'response': ['fine']") != std::string::npos);
  h.say("b is fine");
  CAF_CHECK(!h.turn.open());
  CAF_CHECK_EQUAL(h.last_line(h.a), "assistant: b is fine");
}

CAF_TEST(who asks back is refused at once and told why) {
  asking h(asker);
  h.say(asks(h.a)); // b, within a's turn
  CAF_CHECK(h.only_call().body->find("would_deadlock") != std::string::npos);
  h.say("I cannot");
  h.say("b cannot");
  CAF_CHECK(!h.turn.open());
}

CAF_TEST(a cancelled ask ends the turn of who was asked) {
  asking h;
  auto cancelled = h.cancel(h.turn);
  h.settle();
  CAF_CHECK(cancelled->value.value_or(false));
  CAF_CHECK(h.row(h.turn.id).status == run_status::cancelled);
  CAF_CHECK(storage::active_runs(*h.snapshot()).empty());
}

CAF_TEST(nobody waits longer than the deadline) {
  asking h({}, patient_for(60min));
  h.pass(21min);
  CAF_CHECK(h.only_call().body->find("did not answer in time") != std::string::npos);
  h.say("b is silent");
  CAF_CHECK(!h.turn.open());
}

CAF_TEST(nobody is asked when the tokens of the turn are used up) {
  asking h;
  for (int i = 0; i < 40; ++i) {
    auto answer = text_reply("a long one");
    answer.usage.completion = answer.usage.total = 25'000;
    h.say(std::move(answer));
    CAF_CHECK(h.only_call().body->find("used up the tokens") == std::string::npos);
    h.say(asks(h.b));
  }
  CAF_CHECK(h.only_call().body->find("used up the tokens") != std::string::npos);
  h.say("b talks too much");
  CAF_CHECK(!h.turn.open());
}

CAF_TEST(an answer that is on its way when the ask is cancelled is kept) {
  asking h;
  auto asked = h.caller();
  h.hold(asked);
  h.answer_model(0, text_reply("fine"));
  h.settle();
  h.step(asked); // what it says is stored
  h.settle();
  auto cancelled = h.cancel(h.turn);
  h.settle();
  CAF_CHECK(h.turn.open()); // until those who were asked have stopped
  h.release();
  CAF_CHECK(cancelled->value.value_or(false));
  CAF_CHECK(h.row(h.turn.id).status == run_status::cancelled);
  CAF_CHECK_EQUAL(h.last_line(h.a), "tool: c1 -> success");
}

CAF_TEST(fifty agents and ten thousand asks) {
  std::size_t asks = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    crowd c(50, seed);
    c.run(2'000);
    asks += c.asks();
    refused += c.refused();
    CAF_CHECK(storage::active_runs(*c.snapshot()).empty());
  }
  CAF_CHECK(refused > 100);
  CAF_MESSAGE(asks << " asks, " << refused << " refused, nobody waits");
}
