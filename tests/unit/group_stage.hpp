// Plays a run of a group without actors or a store: members answer from a script, everything that happens is a line of
// a transcript. The store is played, too: after each step the machine can be thrown away and made anew from what a
// store would have kept, as after a crash.
#pragma once

#include "core/group/run_machine.hpp"
#include "tests/unit/support.hpp"

#include <deque>
#include <functional>

namespace troupe::test {

class group_stage {
public:
  explicit group_stage(manager_type type, std::size_t members, bool with_manager = false) {
    view_.settings.id = nth<group_id>(7);
    view_.settings.manager_type_ = type;
    for (std::size_t i = 0; i < members; ++i)
      view_.members.push_back(make_member(10 + i, std::string(1, static_cast<char>('a' + i))));
    if (with_manager) view_.manager = make_member(99, "boss");
    if (type == manager_type::dynamic) view_.settings.termination_token = "DONE!";
  }

  // What a member does when it is asked; the default says its name and how often it has spoken.
  std::function<void(const std::string& who, const group_run::assignment& asked, group_run::outcome& out)>
      act;
  bool crashes = false;                    // after every step
  std::optional<std::size_t> cancel_after; // answers
  group& settings() { return view_.settings; }
  std::vector<group_run::member>& members() { return view_.members; }
  std::size_t model_calls() const { return asked_; }
  const group_run::run_state& state() const { return *state_; }
  std::string end; // how it ended

  // One request to the group; gives what happened.
  std::string send(const std::string& text) {
    out_.clear();
    state_.reset();
    pending_.clear();
    request_ = {};
    message_create m;
    m.content.emplace_back(text_content{text, std::nullopt});
    request_.messages.emplace_back(std::move(m));
    run_ = env_.make_id<run_id>();
    end.clear();
    wake();
    std::size_t answers = 0;
    while (end.empty() && !pending_.empty()) {
      auto next = std::move(pending_.front());
      pending_.pop_front();
      auto o = answer(next);
      if (cancel_after && answers++ == *cancel_after) handle(turn::cancel{});
      if (!end.empty()) break;
      if (std::exchange(cancelled_parts_, false)) o.cancelled = true;
      handle(turn::part_ended{o, view_});
    }
    return out_;
  }

  static tool_call call(const std::string& name, const std::string& arguments) {
    return {"c1", name, arguments};
  }
  static group_run::said_message words(const std::string& text) {
    return {{text_content{text, std::nullopt}}, "otid"};
  }
  const agent_id& id(const std::string& name) const {
    for (auto& m : view_.members)
      if (m.name == name) return m.id;
    return view_.manager->id;
  }

private:
  static group_run::member make_member(std::size_t n, std::string name) {
    group_run::member m;
    m.id = nth<agent_id>(n);
    m.name = std::move(name);
    return m;
  }

  std::string name_of(const agent_id& id) const {
    auto* m = group_run::find(view_, id);
    return m ? m->name : "nobody";
  }

  // From what is stored.
  void wake() {
    group_run::input in;
    in.now = view_;
    in.request = request_;
    if (state_) {
      in.state = *state_;
      in.is_new = false;
    } else {
      in.state.run = run_;
      in.state.group = view_.settings.id;
      in.state.first = log_.size();
    }
    for (auto& [agent, to] : cursors_) in.cursors.push_back({agent, to});
    in.log = log_;
    machine_ = std::make_unique<group_run::run_machine>(std::move(in), env_);
    handle(turn::started{});
  }

  void handle(turn::event e) {
    for (auto& effect : machine_->handle(std::move(e))) {
      if (auto* step = std::get_if<turn::advance_group>(&effect)) {
        store(step->batch);
        if (crashes && !step->batch.end) return wake();
        handle(turn::committed{});
      } else if (auto* wait = std::get_if<turn::await_parts>(&effect)) {
        pending_.clear();
        for (auto& p : wait->parts) pending_.push_back(orders_.at(p.run));
      } else if (std::holds_alternative<turn::recall_parts>(effect)) {
        cancelled_parts_ = true;
      } else if (auto* f = std::get_if<turn::finished>(&effect)) {
        end = f->failure ? "failed: " + f->failure->message : std::string(json::enum_text(*f->reason));
        out_ += "end " + end + ", steps " + std::to_string(f->usage.step_count) + "\n";
      }
    }
  }

  void store(const group_run::step& s) {
    state_ = s.state;
    for (auto& e : s.said) {
      log_.push_back(e);
      out_ += "log " + (e.name ? *e.name : std::string(json::enum_text(e.role))) + ": " + text_of(e.content) +
              "\n";
    }
    for (auto& c : s.heard) cursors_[c.agent] = c.heard_to;
    for (auto& a : s.begin) {
      orders_[a.what.run] = a;
      pending_.push_back(a);
    }
    if (!s.end || !group_run::make_pattern(view_.settings.manager_type_)->shares_log()) return;
    for (auto& m : view_.members) cursors_[m.id] = log_.size(); // what the store does with the rest
  }

  static std::string text_of(const std::vector<content_part>& content) {
    std::string out;
    for (auto& p : content)
      if (auto* t = std::get_if<text_content>(&p)) out += t->text;
    return out;
  }

  group_run::outcome answer(const group_run::assignment& a) {
    auto who = name_of(a.what.agent);
    ++asked_;
    out_ += std::string(json::enum_text(a.what.what)) + " " + who + " <-";
    for (auto& m : a.messages)
      if (auto* c = std::get_if<message_create>(&m))
        out_ += " " + (c->name ? *c->name : std::string(json::enum_text(c->role))) + "(" +
                text_of(c->content) + ")";
      else
        out_ +=
            " returns(" +
            std::get<std::string>(std::get<approval_create>(m).approvals->front().returned.func_response) +
            ")";
    out_ += "\n";
    group_run::outcome o;
    o.run = a.what.run;
    o.heard = true;
    o.model_calls = 1;
    o.usage.total_tokens = 10;
    if (act)
      act(who, a, o);
    else
      o.said.push_back(words(who + std::to_string(++spoken_[who])));
    return o;
  }

  group_run::view view_;
  fixed_environment env_;
  send_request request_;
  run_id run_;
  std::unique_ptr<group_run::run_machine> machine_;
  std::optional<group_run::run_state> state_;
  std::vector<group_run::log_entry> log_;
  std::map<agent_id, std::uint64_t> cursors_;
  std::map<run_id, group_run::assignment> orders_;
  std::deque<group_run::assignment> pending_;
  std::map<std::string, int> spoken_;
  std::size_t asked_ = 0;
  bool cancelled_parts_ = false;
  std::string out_;
};

} // namespace troupe::test
