// /health, /ready (reference: resources §1.1)
#include "net/rest/resources.hpp"

namespace troupe::net::rest {

void add_health(router& r) {
  auto alive = [](call& c) -> awaitable<outcome> {
    std::string body;
    json::object_writer(body).add("version", c.s.options.version).add("status", "ok");
    co_return http::response::json(std::move(body));
  };
  r.add("GET", "/health/", alive);
  r.add("GET", "/ready/", alive);
}

} // namespace troupe::net::rest
