// Turns of the native loop, played from their texts: what its suites share.
#pragma once

#include "core/turn/native_loop.hpp"
#include "tests/unit/turn_driver.hpp"

#include <caf/test/unit_test.hpp>

namespace troupe::test {

inline turn_driver driver() {
  return turn_driver([](turn::input in, environment& env) {
    return std::make_unique<turn::native_loop>(std::move(in), env);
  });
}

inline void check(const transcript& t) {
  CAF_MESSAGE(t.name);
  auto d = driver();
  CAF_CHECK_EQUAL(d.play(t.text), turn_driver::trimmed(t.text));
}

template <class E> const E& last(const turn_driver& d) {
  for (auto i = d.effects().size(); i-- > 0;)
    if (auto* e = std::get_if<E>(&d.effects()[i])) return *e;
  throw std::runtime_error("no such effect");
}

} // namespace troupe::test
