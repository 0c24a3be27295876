// The actor that runs Python in processes of its own (net/sandbox/keeper.hpp): calls of tools, and what is found out
// about their sources. Lives on the I/O thread, which only moves bytes; every job is answered, at the latest when its
// time is up.
#pragma once

#include "actors/actors.hpp"
#include "net/io/awaitable.hpp"
#include "net/sandbox/keeper.hpp"

namespace troupe::net {

struct sandbox_options {
  keeper_options keeper;
  std::int64_t seconds = 180;            // of one call
  std::int64_t memory_mib = 4'096;       // address space of one process
  std::int64_t file_mib = 256;           // of one file that it writes
  std::int64_t files = 256;              // open at the same time
  std::int64_t output_bytes = 256 << 10; // kept of its standard output, and of its errors
  std::int64_t result_bytes = 8 << 20;   // of what a tool returns
  std::size_t at_once = 16;              // calls that run at the same time
  std::size_t max_waiting = 1'000;       // and those that wait
};

actors::sandbox_actor spawn_sandbox(caf::actor_system& system, actors::host* host, asio::io_context& io,
                                    sandbox_options options);

} // namespace troupe::net
