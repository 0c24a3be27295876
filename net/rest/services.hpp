// Everything that endpoints work with. Lives on the I/O thread, as long as the server.
#pragma once

#include "net/events/run_streams.hpp"
#include "net/io/front.hpp"
#include "net/providers/registry.hpp"
#include "net/rest/router.hpp"

#include <set>

namespace troupe::net::rest {

struct settings {
  std::string password;                                      // empty: everybody may
  std::vector<std::string> origins{"https://app.letta.com"}; // of web pages, beside those of this machine
  std::string version;                                       // as health reports it
  std::string troupe_version;
  std::size_t max_image = 20 << 20; // bytes of an image that is fetched by its URL
  std::string default_model;        // handle of agents that name none; empty: they have to
  std::string default_embedding;
  storage::busy_policy busy = storage::busy_policy::queue; // where a request does not say
};

struct services {
  front* self = nullptr;
  std::shared_ptr<storage::database> db;
  environment* env = nullptr;
  actors::store_actor store;
  actors::directory_actor directory;
  actors::models_actor calls; // of models
  actors::sandbox_actor sandbox;
  std::vector<actors::query_actor> queries;
  std::size_t next_query = 0;
  std::shared_ptr<registry> models;
  std::shared_ptr<http_client> client;
  std::shared_ptr<run_streams> streams;
  std::set<uuid> calling_back; // runs and jobs whose callback is under way
  settings options;
  router routes;
};

} // namespace troupe::net::rest
