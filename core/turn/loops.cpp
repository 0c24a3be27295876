#include "core/turn/loops.hpp"

#include "core/turn/compaction_turn.hpp"
#include "core/turn/native_loop.hpp"
#include "core/turn/older_loop.hpp"

namespace troupe::turn {

std::unique_ptr<machine> make_loop(input in, environment& env) {
  if (in.compaction) return std::make_unique<compaction_turn>(std::move(in), env);
  if (is_native_loop(in.self.type)) return std::make_unique<native_loop>(std::move(in), env);
  return std::make_unique<older_loop>(std::move(in), env);
}

} // namespace troupe::turn
