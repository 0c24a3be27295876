#include "actors/query.hpp"

namespace troupe::actors {

query_actor::behavior_type query_worker(query_actor::stateful_pointer<query_state>,
                                        std::shared_ptr<storage::database> db) {
  return {
      [=](const query& q) -> caf::result<std::string> {
        caf::result<std::string> out{caf::error{}};
        guarded(
            "query",
            [&] {
              auto snapshot = db->snapshot();
              auto body = q.run(*snapshot);
              if (body)
                out = caf::result<std::string>{std::move(*body)};
              else
                out = caf::result<std::string>{to_caf(body.error())};
            },
            [&](const error& e) { out = caf::result<std::string>{to_caf(e)}; });
        return out;
      },
  };
}

} // namespace troupe::actors
