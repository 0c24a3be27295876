// The run of a group as a state machine: members' turns are errands, what they said goes into the group's log, the
// manager's pattern says who is next. Pure; the actor of the group feeds it and carries out its effects.
#pragma once

#include "core/group/pattern.hpp"
#include "core/turn/types.hpp"

#include <map>

namespace troupe::group_run {

struct input {
  run_state state; // as stored, or new
  bool is_new = true;
  view now;
  std::vector<log_entry> log; // what some member has not heard yet
  std::vector<cursor> cursors;
  send_request request;
};

class run_machine final : public turn::machine {
public:
  run_machine(input in, environment& env);
  turn::effects handle(turn::event e) override;
  project::options view() const override { return {}; }

private:
  turn::effects begin();
  turn::effects go_on();
  turn::effects take(turn::part_ended e);
  turn::effects cancel();
  turn::effects finish();
  turn::effects fail_commit(error why);
  void take_failure(const part& p, const outcome& o, step& s);
  void hear(const part& p, const outcome& o, step& s);
  void say(step& s, const said_by& words);
  void advance(step& s);
  void end(step& s, const ending& how);
  std::optional<ending> reason_to_end(const step& s) const;
  void assign(step& s, std::vector<part> parts);
  turn::effects store(step s);

  input in_;
  environment& env_;
  std::unique_ptr<pattern> pattern_;
  std::map<agent_id, std::uint64_t> heard_;
  std::uint64_t last_entry_ = 0;
  bool cancelled_ = false;
  bool recalled_ = false;
  std::optional<ending> ended_;
  std::vector<std::pair<outcome, group_run::view>>
      waiting_; // results that came while a step was being stored
  bool storing_ = false;
};

} // namespace troupe::group_run
