#include "storage/sleeptime_claims.hpp"

#include "core/group/voice.hpp"
#include "storage/agents.hpp"
#include "storage/conversations.hpp"
#include "storage/groups.hpp"
#include "storage/pending.hpp"

#include <algorithm>

namespace troupe::storage {

namespace {

constexpr std::size_t most_messages = 1000; // that one turn is told
constexpr std::int64_t share_of_window = 3; // a third of the companion's context is for what it is told
constexpr std::int64_t least_tokens = 1000;

error moved_on() { return fail(errc::conflict, "The job has changed"); }

struct slice {
  std::string letter; // empty: there is nothing to be told
  std::uint64_t upto = 0;
  bool is_all = true;
  std::vector<message_id> evicts;
  std::optional<std::vector<tool_rule>> rules;
};

slice slice_of(const reader& r, const sleeptime_job& j, const agent& talker, const agent& companion) {
  auto upto = j.share().upto;
  history_query q;
  q.limit = most_messages;
  q.newest_first = false;
  q.after = j.accepted;
  q.before = upto + 1;
  q.default_thread = !j.conversation;
  q.conversation = j.conversation;
  auto messages = history(r, j.agent, q);
  auto tokens = std::max(least_tokens, companion.llm.context_window / share_of_window);
  auto told = sleeptime::excerpt_of(messages, is_native_loop(talker.type), static_cast<std::size_t>(tokens));
  slice out;
  if (!told.text.empty()) out.letter = sleeptime::letter(told.text);
  out.upto = upto;
  out.is_all = told.covers == messages.size() && messages.size() < most_messages;
  if (!out.is_all) out.upto = find_message_place(r, messages[told.covers - 1]->id)->sequence;
  return out;
}

slice voice_slice(const reader& r, const sleeptime_job& j, const group& g) {
  auto context = context_messages(r, {j.agent, j.conversation});
  auto stays = sleeptime::first_that_stays(context, g.max_message_buffer_length.value_or(0),
                                           g.min_message_buffer_length.value_or(0));
  slice out;
  out.upto = j.share().upto;
  if (stays == 0) return out;
  auto middle = context.begin() + static_cast<std::ptrdiff_t>(stays);
  std::vector<stored_message> going(context.begin() + 1, middle), staying(middle, context.end());
  out.letter = sleeptime::voice_letter(going, staying);
  for (auto& m : going) out.evicts.push_back(m->id);
  out.rules = sleeptime::voice_rules();
  return out;
}

send_request request_for(const sleeptime_job& j, const std::string& letter) {
  message_create m;
  m.content.emplace_back(text_content{letter, std::nullopt});
  m.group_id = j.group.str();
  send_request q;
  q.messages.emplace_back(std::move(m));
  q.has_messages = true;
  q.include_pings = false;
  return q;
}

turn_order order_for(const sleeptime_job& j, run row, const slice& told) {
  turn_order o;
  o.run_row = std::move(row);
  o.agent = j.companion;
  o.acting = j.acting;
  o.request = request_for(j, told.letter);
  o.how = turn::mode::async;
  o.resumed = true; // the run is stored with the claim
  o.part_of.emplace();
  o.part_of->may_retry = true;
  o.part_of->extra.rules = told.rules;
  return o;
}

} // namespace

std::optional<sleeptime_claim> make_claim(const reader& r, const sleeptime_job& j, environment& env) {
  auto g = find_group(r, j.group);
  auto talker = find_agent(r, j.agent);
  auto companion = find_agent(r, j.companion);
  if (!g || !talker || !companion || (j.conversation && !find_conversation(r, *j.conversation)))
    return std::nullopt;
  bool speaks = g->manager_type_ == manager_type::voice_sleeptime;
  auto told = speaks ? voice_slice(r, j, *g) : slice_of(r, j, *talker, *companion);
  auto first = find_run(r, j.waiting.front());
  if (!first || (told.letter.empty() && told.is_all)) return std::nullopt;
  sleeptime_claim c;
  c.seen = j;
  c.upto = told.upto;
  c.is_part = !told.is_all;
  auto row = c.is_part ? companion_run(j, env) : *first;
  auto last = j.waiting.begin() + static_cast<std::ptrdiff_t>(j.share().runs);
  c.runs = c.is_part ? std::vector{row.id} : std::vector(j.waiting.begin(), last);
  c.evicts = told.evicts;
  c.order = order_for(j, std::move(row), told);
  return c;
}

result<void> store_claim(transaction& t, const sleeptime_claim& c) {
  auto j = find_job(t, c.seen);
  if (!j || j->working || j->accepted != c.seen.accepted) return moved_on();
  if (c.is_part) {
    create_run(t, c.order.run_row);
  } else {
    // Triggers since then wait for the next claim; one that was cancelled since then changes what is to be done.
    if (j->waiting.size() < c.runs.size() || !std::equal(c.runs.begin(), c.runs.end(), j->waiting.begin()))
      return moved_on();
    j->waiting.erase(j->waiting.begin(), j->waiting.begin() + static_cast<std::ptrdiff_t>(c.runs.size()));
    j->next.reset();
  }
  auto& work = j->working.emplace();
  work.run = c.runs.front();
  work.with.assign(c.runs.begin() + 1, c.runs.end());
  work.upto = c.upto;
  work.not_before = j->begins_at;
  work.evicts = c.evicts;
  put_job(t, *j);
  put_pending(t, c.order);
  return {};
}

result<void> drop_waiting(transaction& t, const sleeptime_job& seen, environment& env) {
  auto j = find_job(t, seen);
  if (!j || j->working || j->waiting != seen.waiting) return moved_on();
  bool is_gone = !find_group(t, j->group) || !find_agent(t, j->agent) || !find_agent(t, j->companion);
  if (is_gone || (j->conversation && !find_conversation(t, *j->conversation))) {
    forget_job(t, *j, env);
  } else if (j->share().runs < j->waiting.size()) {
    j->next.reset(); // there may be something in the rest
    put_job(t, *j);
  } else {
    cancel_waiting(t, *j, env);
  }
  return {};
}

std::shared_ptr<const turn_order> order_of(const reader& r, const sleeptime_job& j) {
  return j.working ? pending_order(r, j.working->run) : nullptr;
}

result<void> put_off(transaction& t, const sleeptime_job& seen, const sleeptime::tries& tries,
                     timestamp until, const std::string& why) {
  auto j = find_job(t, seen);
  if (!j || !j->working || !seen.working || j->working->run != seen.working->run) return moved_on();
  j->working->tries = tries;
  j->working->not_before = until;
  j->last_error = why;
  put_job(t, *j);
  return {};
}

} // namespace troupe::storage
