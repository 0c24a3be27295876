// Compaction by request (reference: agent-loop §9.6): a turn of its own in the queue of its context.
#pragma once

#include "core/turn/compaction.hpp"

namespace troupe::turn {

class compaction_turn final : public machine {
public:
  compaction_turn(input in, environment& env);
  effects handle(event e) override;
  project::options view() const override { return {}; }

private:
  effects begin();
  effects go_on();
  effects store();
  effects end(std::optional<error> failure, std::string body = {});
  stored_message summary_message(const compaction_outcome& o) const;

  input in_;
  environment& env_;
  compactor compactor_;
  bool finished_ = false;
};

} // namespace troupe::turn
