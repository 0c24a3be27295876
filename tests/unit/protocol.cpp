// Which protocol a model is spoken to in, and the chunks that become of its pieces.
#define CAF_SUITE protocol
#include "core/protocol/protocol.hpp"

#include "core/project/chunks.hpp"
#include "tests/unit/protocol_support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

// -- which protocol ---------------------------------------------------------------------------------
CAF_TEST(the protocol follows from the configuration) {
  using protocol::kind;
  struct row {
    std::string_view type, model, endpoint;
    bool gateway;
    kind speaks;
  } rows[] = {
      {"anthropic", "claude-sonnet-4-5", "https://api.anthropic.com/v1", false, kind::messages},
      {"anthropic", "claude-sonnet-4-5", "http://gateway/v1", true, kind::chat_completions},
      {"openai", "gpt-5-mini", "https://api.openai.com/v1", false, kind::responses},
      {"openai", "o3", "https://api.openai.com/v1", false, kind::responses},
      {"openai", "gpt-4o", "https://api.openai.com/v1", false, kind::chat_completions},
      {"openai", "gpt-5-mini", "http://127.0.0.1:9099/v1", false, kind::chat_completions},
      {"groq", "o3", "https://api.openai.com/v1", false, kind::chat_completions},
  };
  for (auto& row : rows) {
    llm_config c;
    c.model_endpoint_type = row.type;
    c.model = row.model;
    c.model_endpoint = row.endpoint;
    if (row.gateway) c.model_wrapper = protocol::compatible_wrapper;
    CAF_CHECK(protocol::kind_of(c) == row.speaks);
  }
}

CAF_TEST(keys and versions are sent as each protocol wants them) {
  auto c = conversation("anthropic", "claude-sonnet-4-5").r.config;
  CAF_CHECK_EQUAL(protocol::key_header(protocol::kind::messages, "k"), "x-api-key: k");
  CAF_CHECK_EQUAL(protocol::key_header(protocol::kind::responses, "k"), "Authorization: Bearer k");
  auto headers = protocol::headers(c, false);
  CAF_REQUIRE_EQUAL(headers.size(), 2u);
  CAF_CHECK_EQUAL(headers[0], "anthropic-version: 2023-06-01");
  CAF_CHECK_EQUAL(headers[1], "anthropic-beta: interleaved-thinking-2025-05-14");
  c.model_endpoint_type = "openai";
  CAF_CHECK(protocol::headers(c, true).empty());
}

// -- chunks -----------------------------------------------------------------------------------------
CAF_TEST(the name stands on every piece of a call and an approval stays one) {
  project::chunk_target target{nth<message_id>(2), nth<step_id>(1), nth<run_id>(1), {"look"}, {}, {}};
  project::chunk_projector projector(target);
  auto now = at("2026-11-21T06:24:29Z");
  using kind = project::delta::kind;
  auto calls = [&](const project::delta& d) {
    auto chunk = projector.next(d, now).at(0);
    return member_of(chunk, "message_type") + member_of(chunk, "tool_call");
  };
  CAF_CHECK_EQUAL(calls({kind::tool_call, {}, "a", "other", {}, {}}),
                  R"("tool_call_message"{"name":"other","tool_call_id":"a"})");
  CAF_CHECK_EQUAL(calls({kind::tool_call, "{}", "a", "other", {}, {}}),
                  R"("tool_call_message"{"name":"other","arguments":"{}","tool_call_id":"a"})");
  CAF_CHECK_EQUAL(calls({kind::tool_call, {}, "b", "look", {}, {}}),
                  R"("approval_request_message"{"name":"look","arguments":null,"tool_call_id":"b"})");
  CAF_CHECK_EQUAL(calls({kind::tool_call, "{}", "b", "look", {}, {}}),
                  R"("approval_request_message"{"name":"look","arguments":"{}","tool_call_id":"b"})");
  CAF_CHECK_EQUAL(calls({kind::tool_call, "{}", "b", {}, {}, {}}),
                  R"("approval_request_message"{"name":null,"arguments":"{}","tool_call_id":"b"})");
}
