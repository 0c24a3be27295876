// The bridge between coroutines of the I/O thread and actors: one actor that lives on the io_context. Coroutines ask
// through it and are resumed by its answers.
//
// GCC 12 miscompiles aggregate temporaries inside the argument of co_await: name what you send first.
#pragma once

#include "actors/actors.hpp"
#include "net/io/awaitable.hpp"

namespace troupe::net {

class front final : public actors::hosted_actor {
public:
  front(caf::actor_config& cfg, actors::host* h) : hosted_actor(cfg, h) {}
  const char* name() const override { return "front"; }
  caf::behavior make_behavior() override {
    return {[](actors::stop_atom) {}};
  }
};

// Sends a request and waits for its answer. Only from the I/O thread. No timeout: every actor answers everything.
template <class R, class Handle, class... Ts> awaitable<result<R>> ask(front* f, Handle to, Ts... xs) {
  auto initiate = [f, to, ... xs = std::move(xs)](auto handler) mutable {
    auto resume = std::make_shared<decltype(handler)>(std::move(handler));
    f->request(to, caf::infinite, std::move(xs)...)
        .then([resume](R& r) { std::move (*resume)(result<R>(std::move(r))); },
              [resume](const caf::error& e) { std::move (*resume)(result<R>(actors::from_caf(e))); });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(result<R>)>(
      std::move(initiate), asio::use_awaitable);
}

} // namespace troupe::net
