// One after the other, in the group's order (reference: groups §2.1).
#include "core/group/pattern.hpp"

namespace troupe::group_run {

namespace {

class round_robin final : public pattern {
public:
  std::vector<part> next(scene s) const override {
    auto& members = s.now.members;
    auto& who = members[static_cast<std::size_t>(s.state.turns) % members.size()];
    return {new_part(s, who.id, task::speak, "next in order")};
  }

  std::vector<said_by> take(scene s, part& p, const outcome& o) const override {
    count_turn(s, p);
    return {{find(s.now, p.agent), o.said}};
  }

  assignment assign(scene s, const part& p, const std::vector<log_entry>& unheard) const override {
    return speak(s, p, unheard);
  }
};

} // namespace

std::unique_ptr<pattern> make_round_robin() { return std::make_unique<round_robin>(); }

} // namespace troupe::group_run
