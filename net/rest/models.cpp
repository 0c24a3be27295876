// /models (reference: resources §10.6)
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"

namespace troupe::net::rest {

namespace {

struct model_parameters {
  std::vector<provider_category> provider_category_;
  std::optional<std::string> provider_name, provider_type;
};
BOOST_DESCRIBE_STRUCT(model_parameters, (), (provider_category_, provider_name, provider_type))

awaitable<outcome> list_models(call& c) {
  auto p = query_of<model_parameters>(c);
  if (!p) co_return p.error();
  registry::filter f{p->provider_category_, p->provider_name, p->provider_type};
  co_return http::response::json(co_await c.s.models->list_models(std::move(f)));
}

awaitable<outcome> list_embeddings(call& c) {
  co_return http::response::json(co_await c.s.models->list_embeddings());
}

} // namespace

void add_models(router& r) {
  r.add("GET", "/models/", list_models);
  r.add("GET", "/models/embedding", list_embeddings);
  r.add("GET", "/models/embeddings", list_embeddings);
}

} // namespace troupe::net::rest
