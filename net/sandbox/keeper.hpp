// The processes that tools run in. A keeper is a Python process (configs/sandbox/cells.py) that has processes for calls
// ready; who connects gets one of them. It is started where it is needed first, inside bubblewrap where that works.
#pragma once

#include "core/base/error.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace troupe::net {

enum class isolation { automatic, bubblewrap, none };

struct keeper_options {
  std::string python = "python3";
  isolation isolated = isolation::automatic;
  std::filesystem::path hidden;              // a folder that tools must not see: the server's data
  std::vector<std::string> hidden_variables; // of the environment: the server's own secrets
  int spares = 2;                            // processes that wait for calls
};

// A descriptor that is closed with its owner.
class descriptor {
public:
  explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor();
  int get() const noexcept { return fd_; }
  int release() noexcept;

private:
  int fd_;
};

class keeper {
public:
  // Errors: unavailable, with what is missing.
  static result<std::unique_ptr<keeper>> start(const keeper_options& o);
  keeper(int pid, descriptor control) : pid_(pid), control_(std::move(control)) {}
  // Closes its socket: it ends what runs, and leaves.
  ~keeper();
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;

  // A connection to a process for one call. Errors: unavailable, where the keeper has died.
  result<descriptor> connect();

private:
  int pid_;
  descriptor control_;
};

} // namespace troupe::net
