// The typed readers on any document: they give a value or errors with places, and never anything else.
#pragma once

#include "core/base/text.hpp"
#include "core/json/reader.hpp"
#include "core/schema/agent.hpp"
#include "core/schema/identity.hpp"
#include "core/schema/message_request.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

template <class T> void read_body(const json::value& document) {
  auto body = json::read_as<T>(document);
  if (body) return;
  must(body.error().code == errc::invalid_body, "a wrong body has its own error");
  must(body.error().message.starts_with("[{'type': "), "errors are a list");
  must(text::is_utf8(body.error().message), "errors are UTF-8");
}

inline void bodies(std::string_view bytes) {
  auto document = json::parse(bytes);
  if (!document) return;
  read_body<create_agent>(*document);
  read_body<update_agent>(*document);
  read_body<send_request>(*document);
  read_body<create_block>(*document);
  read_body<update_block>(*document);
}

} // namespace troupe::fuzz
