#include "core/group/run_machine.hpp"

#include <algorithm>

namespace troupe::group_run {

namespace {

constexpr const char* said_nothing = " said nothing.";

part* find_part(run_state& s, const run_id& run) {
  auto it = std::find_if(s.out.begin(), s.out.end(), [&](auto& p) { return p.run == run; });
  return it == s.out.end() ? nullptr : &*it;
}

void add(usage_statistics& sum, const usage_statistics& u) {
  sum.completion_tokens += u.completion_tokens;
  sum.prompt_tokens += u.prompt_tokens;
  sum.total_tokens += u.total_tokens;
}

bool contains(const std::vector<content_part>& content, const std::string& token) {
  return std::any_of(content.begin(), content.end(), [&](auto& p) {
    auto* t = std::get_if<text_content>(&p);
    return t && t->text.find(token) != std::string::npos;
  });
}

} // namespace

run_machine::run_machine(input in, environment& env)
    : in_(std::move(in)), env_(env), pattern_(make_pattern(in_.now.settings.manager_type_)) {
  for (auto& c : in_.cursors) heard_[c.agent] = c.heard_to;
  last_entry_ = in_.log.empty() ? in_.state.first : in_.log.back().sequence;
}

turn::effects run_machine::handle(turn::event e) {
  if (std::holds_alternative<turn::started>(e)) return in_.is_new ? begin() : go_on();
  if (auto* ended = std::get_if<turn::part_ended>(&e)) return take(std::move(*ended));
  if (std::holds_alternative<turn::cancel>(e)) return cancel();
  if (auto* failed = std::get_if<turn::commit_failed>(&e)) return fail_commit(std::move(failed->why));
  if (!std::holds_alternative<turn::committed>(e)) return {};
  storing_ = false;
  if (ended_) return finish();
  turn::effects out;
  for (auto& [o, now] : std::exchange(waiting_, {})) turn::append(out, take(turn::part_ended{o, now}));
  if (cancelled_ && !recalled_) turn::append(out, cancel());
  return out;
}

// -- the beginning --------------------------------------------------------------------------------
turn::effects run_machine::begin() {
  step s;
  auto& st = in_.state;
  st.first = last_entry_ + 1;
  for (auto& given : in_.request.messages) {
    auto* m = std::get_if<message_create>(&given);
    if (!m) continue;
    log_entry e;
    e.role = m->role;
    e.content = m->content;
    e.name = m->name;
    e.otid = m->otid.value_or(env_.random_uuid().str());
    e.sequence = ++last_entry_;
    e.run = st.run;
    e.at = in_.now.now;
    in_.log.push_back(e);
    s.said.push_back(std::move(e));
  }
  advance(s);
  return store(std::move(s));
}

// After a restart: what is under way is waited for again.
turn::effects run_machine::go_on() {
  turn::effects out;
  turn::await_parts wait;
  for (auto& p : in_.state.out)
    if (!p.ended) wait.parts.push_back(p);
  if (wait.parts.empty()) {
    step s;
    advance(s);
    return store(std::move(s));
  }
  out.emplace_back(std::move(wait));
  return out;
}

// -- a part that ended ----------------------------------------------------------------------------
turn::effects run_machine::take(turn::part_ended e) {
  if (storing_) { // the store has to have what came before
    waiting_.emplace_back(std::move(e.what), std::move(e.now));
    return {};
  }
  in_.now = std::move(e.now);
  auto& st = in_.state;
  auto* found = find_part(st, e.what.run);
  if (!found || found->ended || ended_) return {};
  step s;
  auto& o = e.what;
  found->ended = true;
  hear(*found, o, s);
  add(st.usage, o.usage);
  s.ended.push_back(o.run);
  scene here{st, in_.now, env_};
  bool failed = o.cancelled || o.failure;
  if (cancelled_ || (failed && found->what != task::reply)) {
    auto p = *found;
    std::erase_if(st.out, [&](auto& x) { return x.run == p.run; });
    st.past.push_back(p);
    if (!cancelled_) {
      take_failure(p, o, s);
    } else if (std::none_of(st.out.begin(), st.out.end(), [](auto& x) { return !x.ended; })) {
      end(s, {true, std::nullopt});
    }
    return store(std::move(s));
  }
  for (auto& words : pattern_->take(here, *found, o)) say(s, words);
  // Those that wait for others of the same call stay until the last has answered.
  bool gathers = std::any_of(st.out.begin(), st.out.end(), [](auto& p) { return !p.ended; });
  if (!gathers) advance(s);
  return store(std::move(s));
}

// What a member was told it has heard, once that is in its history.
void run_machine::hear(const part& p, const outcome& o, step& s) {
  if (!o.heard || p.heard_to <= heard_[p.agent]) return;
  heard_[p.agent] = p.heard_to;
  s.heard.push_back({p.agent, p.heard_to});
}

void run_machine::take_failure(const part& p, const outcome& o, step& s) {
  auto& settings = in_.now.settings;
  auto policy = settings.options.on_member_error_.value_or(on_member_error::abort);
  bool again = policy == on_member_error::retry && p.attempt < settings.options.member_retries.value_or(1);
  if (o.cancelled && !o.failure && !p.deadline) return end(s, {true, std::nullopt});
  auto why = o.failure.value_or("its time was up");
  if (again) {
    auto next = new_part({in_.state, in_.now, env_}, p.agent, p.what, "tried again: " + why);
    next.attempt = p.attempt + 1;
    next.deadline = p.deadline;
    return assign(s, {next});
  }
  auto* who = find(in_.now, p.agent);
  if (policy != on_member_error::skip || p.what != task::speak)
    return end(s, {false, (who ? who->name : p.agent.str()) + ": " + why});
  ++in_.state.turns;
  in_.state.speaker = p.agent;
  say(s,
      {nullptr, {{{text_content{(who ? who->name : "A member") + " could not answer.", std::nullopt}}, ""}}});
  advance(s);
}

// -- the log --------------------------------------------------------------------------------------
void run_machine::say(step& s, const said_by& words) {
  auto add_entry = [&](std::vector<content_part> content, std::string otid, const member* who) {
    log_entry e;
    e.sequence = ++last_entry_;
    e.run = in_.state.run;
    e.turn = in_.state.turns;
    if (who) {
      e.speaker = who->id;
      e.name = who->name;
    }
    e.role = message_role::system;
    e.content = std::move(content);
    e.otid = otid.empty() ? env_.random_uuid().str() : std::move(otid);
    e.at = in_.now.now;
    in_.log.push_back(e);
    s.said.push_back(std::move(e));
  };
  for (auto& w : words.words) add_entry(w.content, w.otid, words.speaker);
  if (!words.speaker) return;
  if (words.words.empty()) {
    ++in_.state.quiet;
    add_entry({text_content{words.speaker->name + said_nothing, std::nullopt}}, {}, nullptr);
  } else {
    in_.state.quiet = 0;
  }
}

// -- what comes next ------------------------------------------------------------------------------
std::optional<ending> run_machine::reason_to_end(const step& s) const {
  auto& settings = in_.now.settings;
  auto& st = in_.state;
  if (settings.options.quiet_rounds && *settings.options.quiet_rounds > 0 &&
      st.quiet >= *settings.options.quiet_rounds)
    return ending{};
  if (settings.options.token_budget && st.usage.total_tokens >= *settings.options.token_budget)
    return ending{};
  if (auto& token = settings.termination_token; token && !token->empty())
    for (auto& e : s.said)
      if (e.speaker && contains(e.content, *token)) return ending{};
  return std::nullopt;
}

void run_machine::advance(step& s) {
  auto& st = in_.state;
  for (auto& p : st.out) st.past.push_back(p);
  st.out.clear();
  if (in_.now.members.empty()) return end(s, {false, "Empty group"});
  if (auto why = reason_to_end(s)) return end(s, *why);
  auto most = in_.now.settings.max_turns.value_or(pattern_->default_turns(in_.now));
  if (pattern_->shares_log() && st.turns >= most) return end(s, {});
  auto parts = pattern_->next({st, in_.now, env_});
  if (parts.empty()) return end(s, {});
  assign(s, std::move(parts));
}

void run_machine::assign(step& s, std::vector<part> parts) {
  for (auto& p : parts) {
    std::vector<log_entry> unheard;
    auto it = heard_.find(p.agent);
    auto from = it == heard_.end() ? in_.state.first - 1 : it->second;
    for (auto& e : in_.log)
      if (e.sequence > from && e.speaker != p.agent) unheard.push_back(e);
    p.heard_to = last_entry_;
    s.begin.push_back(pattern_->assign({in_.state, in_.now, env_}, p, unheard));
    in_.state.out.push_back(p);
  }
}

// -- the end --------------------------------------------------------------------------------------
void run_machine::end(step& s, const ending& how) {
  for (auto& p : in_.state.out) in_.state.past.push_back(p);
  in_.state.out.clear();
  s.end = ended_ = how;
  s.begin.clear();
}

turn::effects run_machine::finish() {
  turn::effects out;
  turn::finished f;
  f.usage = in_.state.usage;
  f.usage.step_count = in_.state.step_count;
  f.visible = !in_.state.past.empty();
  if (ended_->failure)
    f.failure = llm_failure(errc::llm_error, "LLMError", *ended_->failure);
  else
    f.reason = ended_->cancelled ? stop_reason::cancelled : stop_reason::end_turn;
  out.emplace_back(std::move(f));
  return out;
}

turn::effects run_machine::cancel() {
  cancelled_ = true;
  if (storing_ || recalled_ || ended_) return {};
  recalled_ = true;
  turn::effects out;
  turn::recall_parts back;
  for (auto& p : in_.state.out)
    if (!p.ended) back.parts.push_back(p);
  if (!back.parts.empty()) {
    out.emplace_back(std::move(back));
    return out;
  }
  step s;
  end(s, {true, std::nullopt});
  return store(std::move(s));
}

turn::effects run_machine::fail_commit(error why) {
  turn::effects out;
  out.emplace_back(
      turn::finished{std::nullopt, std::move(why), in_.state.usage, false, !in_.state.past.empty()});
  return out;
}

turn::effects run_machine::store(step s) {
  storing_ = true;
  s.state = in_.state;
  turn::effects out;
  out.emplace_back(turn::advance_group{std::move(s)});
  return out;
}

} // namespace troupe::group_run
