#include "actors/caf_support.hpp"

#include "core/json/value.hpp"

namespace troupe::actors {

namespace {
const caf::atom_value category = caf::atom("troupe");
} // namespace

caf::error to_caf(const error& e) {
  return caf::error(static_cast<std::uint8_t>(e.code), category,
                    caf::make_message(e.message, json::print(json::value(e.extra))));
}

error from_caf(const caf::error& e) {
  if (e.category() == category && e.context().match_elements<std::string, std::string>()) {
    error out{static_cast<errc>(e.code()), e.context().get_as<std::string>(0), {}};
    if (auto extra = json::try_parse(e.context().get_as<std::string>(1)); extra && extra->is_object())
      out.extra = extra->get_object();
    return out;
  }
  auto text = caf::to_string(e);
  if (e == caf::sec::request_receiver_down) return fail(errc::unavailable, "The server is stopping");
  return fail(errc::internal, "An unknown error occurred (" + text + ")");
}

void host::exec_later(caf::resumable* r) {
  if (r->subtype() != caf::resumable::io_actor) { // a message from this thread to an actor of the pool
    system().scheduler().enqueue(r);
    return;
  }
  post_([this, r] { step(r); });
}

void host::step(caf::resumable* r) {
  switch (r->resume(this, 64)) {
  case caf::resumable::resume_later: post_([this, r] { step(r); }); break;
  case caf::resumable::shutdown_execution_unit: break;
  default: caf::intrusive_ptr_release(r); // done, or waiting for messages
  }
}

} // namespace troupe::actors
