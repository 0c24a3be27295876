#include "runtime/test_clock.hpp"

#include "core/json/reader.hpp"
#include "core/json/value.hpp"
#include "core/json/writer.hpp"
#include "net/rest/errors.hpp"

namespace troupe::runtime {

namespace {

constexpr std::string_view path = "/v1/_test/clock";
constexpr std::int64_t most_ms = std::int64_t{3'650} * 24 * 3'600 * 1'000; // ten years at a time

net::http::response answer(test_clock& clock, const net::http::request& r) {
  if (r.method == "POST") {
    auto body = json::try_parse(r.body);
    auto ms = body ? json::int_or(*body, "advance_ms", -1) : -1;
    if (ms < 0 || ms > most_ms)
      return net::rest::detail(422, "advance_ms: a number of milliseconds, forward, up to ten years");
    clock.advance(ms);
  } else if (r.method != "GET") {
    return net::rest::detail(405, "Method Not Allowed");
  }
  return net::http::response::json(
      json::object_text([&](json::object_writer& w) { w.add("now", clock.now()); }));
}

net::awaitable<net::http::response> forward(net::http::handler api, std::shared_ptr<test_clock> clock,
                                            net::http::request r) {
  if (r.path != path) co_return co_await api(std::move(r));
  auto copy = r;
  auto out = co_await api(std::move(copy));
  // The API knows no such path, and says so to everybody who may come in.
  if (out.status != 404) co_return out;
  co_return answer(*clock, r);
}

} // namespace

net::http::handler with_test_clock(net::http::handler api, std::shared_ptr<test_clock> clock) {
  return [api = std::move(api), clock = std::move(clock)](net::http::request r) {
    return forward(api, clock, std::move(r));
  };
}

} // namespace troupe::runtime
