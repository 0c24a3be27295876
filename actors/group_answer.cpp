#include "actors/group_answer.hpp"

#include "storage/run_messages.hpp"
#include "storage/runs.hpp"

namespace troupe::actors {

std::string group_answer(const storage::reader& r, const storage::turn_order& order,
                         const turn::finished& e) {
  auto row = storage::find_run(r, order.run_row.id).value_or(order.run_row);
  return turn::response_body(storage::shown_messages(r, row), e, order.request.include_return_message_types);
}

} // namespace troupe::actors
