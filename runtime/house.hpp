// The whole server in one process: the store, the actors, the I/O thread, and how they start and stop.
#pragma once

#include "runtime/config.hpp"

namespace troupe::runtime {

class house {
public:
  virtual ~house() = default;
  virtual std::uint16_t port() const = 0;
  virtual const std::string& password() const = 0; // empty: none is asked for
  // Serves until it is told to stop, by SIGINT or SIGTERM: takes no more connections, lets requests at work finish, and
  // leaves. A second signal ends them at once. `ready` is called when the models of the providers are known, with a
  // line about them, and whether the demo cast is there.
  virtual void run(std::function<void(const std::string& models, bool has_cast)> ready) = 0;
};

// Opens the store and the port. Errors: one line that says what to do.
result<std::unique_ptr<house>> open_house(const config& c);

} // namespace troupe::runtime
