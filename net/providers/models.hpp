// The actor that calls models. Takes a call's body to its provider, streams its tokens into the run's log as they
// come, and gives the whole reply back. Lives on the I/O thread; every call is answered, at the latest when its time
// is up.
#pragma once

#include "net/events/run_streams.hpp"
#include "net/providers/registry.hpp"

namespace troupe::net {

struct models_options {
  int max_retries = 2;                        // of calls that failed before their first token
  std::chrono::milliseconds first_pause{500}; // doubled each time, a quarter taken off at random
  std::chrono::milliseconds longest_pause{8'000};
  std::size_t max_waiting = 10'000; // calls that wait for a place at their provider
};

actors::models_actor spawn_models(caf::actor_system& system, actors::host* host,
                                  std::shared_ptr<registry> providers, std::shared_ptr<http_client> client,
                                  std::shared_ptr<run_streams> streams, environment& env,
                                  models_options options);

} // namespace troupe::net
