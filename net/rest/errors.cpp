#include "net/rest/errors.hpp"

#include "core/json/writer.hpp"
#include "core/turn/failure.hpp"

#include <spdlog/spdlog.h>

namespace troupe::net::rest {

namespace {

int status_of(errc code) {
  switch (code) {
  case errc::invalid_body:
  case errc::unprocessable: return 422;
  case errc::invalid_argument:
  case errc::llm_bad_request:
  case errc::llm_context_window:
  case errc::system_prompt_overflow: return 400;
  case errc::unauthorized:
  case errc::llm_authentication: return 401;
  case errc::llm_insufficient_credits: return 402;
  case errc::not_found: return 404;
  case errc::method_not_allowed: return 405;
  case errc::conflict:
  case errc::pending_approval:
  case errc::busy:
  case errc::cancelled: return 409;
  case errc::gone: return 410;
  case errc::payload_too_large: return 413;
  case errc::too_many_requests:
  case errc::llm_rate_limit: return 429;
  case errc::not_implemented: return 501;
  case errc::unavailable:
  case errc::llm_overloaded: return 503;
  case errc::llm_timeout: return 504;
  case errc::storage_full: return 507;
  case errc::internal:
  case errc::llm_error:
  case errc::llm_empty_response: return 500;
  }
  return 500;
}

void write_llm_error(std::string& out, const error& e) {
  json::object_writer body(out);
  auto code = e.code == errc::llm_empty_response ? errc::llm_error : e.code; // has no row of its own here
  json::object_writer(body.key("error"))
      .add("type", turn::llm_error_type(code))
      .add("message", turn::llm_error_sentence(code))
      .add("detail", e.message);
}

void write_body(std::string& out, const error& e) {
  bool plain = e.code == errc::llm_context_window || e.code == errc::llm_overloaded;
  if (is_llm_error(e.code) && !plain) return write_llm_error(out, e);
  json::object_writer body(out);
  if (e.code == errc::invalid_body) body.add("trace_id", "");
  if (e.code == errc::pending_approval)
    json::object_writer(body.key("detail"))
        .add("code", "PENDING_APPROVAL")
        .add("message", e.message)
        .add("pending_request_id", json::string_or(e.extra, "pending_request_id"));
  else if (e.code == errc::internal)
    body.add("detail", "An unknown error occurred");
  else
    body.add("detail", e.message);
  for (std::string_view member : {"examples", "run_id"})
    if (auto* v = json::find(e.extra, member)) body.add(member, *v);
}

} // namespace

http::response error_response(const error& e) {
  if (e.code == errc::internal) spdlog::error("internal error: {}", e.message);
  auto r = http::response::json({}, status_of(e.code));
  write_body(r.body, e);
  auto wait = json::find(e.extra, "retry_after_s");
  if (wait && wait->is_int64()) r.headers.emplace_back("retry-after", std::to_string(wait->get_int64()));
  return r;
}

http::response detail(int status, std::string_view text) {
  auto r = http::response::json({}, status);
  json::object_writer(r.body).add("detail", text);
  return r;
}

} // namespace troupe::net::rest
