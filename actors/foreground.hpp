// The turns that somebody waits for. What the background does keeps out of their way: a commit of its own would hold up
// theirs for as long as the disk takes.
//
// Shared by all actors of a process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace troupe::actors {

class foreground {
public:
  struct leaves {
    void operator()(std::atomic<int>* running) const noexcept {
      running->fetch_sub(1, std::memory_order_relaxed);
    }
  };
  using turn = std::unique_ptr<std::atomic<int>, leaves>; // one of them, as long as this lives

  turn enter() noexcept {
    running_.fetch_add(1, std::memory_order_relaxed);
    entered_.fetch_add(1, std::memory_order_relaxed);
    return turn(&running_);
  }
  bool is_busy() const noexcept { return running_.load(std::memory_order_relaxed) > 0; }
  std::uint64_t entered() const noexcept {
    return entered_.load(std::memory_order_relaxed);
  } // since the start

private:
  std::atomic<int> running_ = 0;
  std::atomic<std::uint64_t> entered_ = 0;
};

} // namespace troupe::actors
