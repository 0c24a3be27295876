// The one place for the peculiarities of CAF 0.17 (engineering notes: promises that die silently, handlers that kill
// their actor, actors on a foreign thread). A move to CAF 1.x touches this file.
#pragma once

#include "core/base/error.hpp"

#include <caf/all.hpp>
#include <spdlog/spdlog.h>

#include <functional>
#include <utility>

namespace troupe::actors {

// -- errors ---------------------------------------------------------------------------------------
// A troupe::error inside a caf::error, and back. Errors of CAF itself become internal or unavailable ones.
caf::error to_caf(const error& e);
error from_caf(const caf::error& e);

// -- promises -------------------------------------------------------------------------------------
// A promise that cannot be lost: destroyed unanswered, it answers with an error. Belongs to the actor that made it.
template <class T> class reply {
public:
  reply() = default;
  explicit reply(caf::typed_response_promise<T> p) : promise_(std::move(p)), open_(true) {}
  reply(reply&& other) noexcept
      : promise_(std::move(other.promise_)), open_(std::exchange(other.open_, false)) {}
  reply& operator=(reply&& other) noexcept {
    if (this != &other) {
      abandon();
      promise_ = std::move(other.promise_);
      open_ = std::exchange(other.open_, false);
    }
    return *this;
  }
  ~reply() { abandon(); }

  bool open() const noexcept { return open_; }
  void deliver(T value) {
    if (std::exchange(open_, false)) promise_.deliver(std::move(value));
  }
  void deliver(const error& e) {
    if (std::exchange(open_, false)) promise_.deliver(to_caf(e));
  }

private:
  void abandon() {
    if (open_) deliver(fail(errc::internal, "The request was dropped"));
  }
  caf::typed_response_promise<T> promise_;
  bool open_ = false;
};

// -- handlers -------------------------------------------------------------------------------------
// Runs the body of a handler. An exception would end the actor: it is logged, and handed to `otherwise`.
template <class F, class G> void guarded(const char* where, F&& body, G&& otherwise) {
  try {
    body();
  } catch (const std::exception& e) {
    spdlog::error("{}: {}", where, e.what());
    otherwise(fail(errc::internal, std::string(where) + ": " + e.what()));
  }
}
template <class F> void guarded(const char* where, F&& body) {
  guarded(where, std::forward<F>(body), [](const error&) {});
}

// -- actors on a thread of their own loop ---------------------------------------------------------
// Runs actors on an event loop: `post` hands a task to it, from any thread. Outlives its actors.
class host final : public caf::execution_unit {
public:
  using post_function = std::function<void(std::function<void()>)>;
  host(caf::actor_system& system, post_function post) : execution_unit(&system), post_(std::move(post)) {}
  void exec_later(caf::resumable* r) override;

private:
  void step(caf::resumable* r);
  post_function post_;
};

// The base of an actor that lives on a host. Only the host's thread may touch it.
class hosted_actor : public caf::event_based_actor {
public:
  explicit hosted_actor(caf::actor_config& cfg, host* h) : event_based_actor(cfg), host_(h) {}
  void enqueue(caf::mailbox_element_ptr p, caf::execution_unit*) override {
    event_based_actor::enqueue(std::move(p), host_);
  }
  void launch(caf::execution_unit*, bool lazy, bool hide) override {
    event_based_actor::launch(host_, lazy, hide);
  }
  subtype_t subtype() const override { return caf::resumable::io_actor; }

private:
  host* host_;
};

} // namespace troupe::actors
