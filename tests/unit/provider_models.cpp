// Which providers the environment asks for, and what becomes of their lists of models.
#define CAF_SUITE provider_models
#include "core/protocol/protocol.hpp"
#include "net/providers/provider.hpp"
#include "runtime/config.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

namespace {

// The providers that these variables ask for, as "name kind url reported key".
std::string providers(std::vector<std::pair<std::string, std::string>> environment) {
  auto variable = [&](const char* name) -> std::optional<std::string> {
    for (auto& [key, value] : environment)
      if (key == name) return value;
    return std::nullopt;
  };
  std::string out;
  auto list = runtime::providers_of({}, variable);
  if (!list) return list.error().message;
  for (auto& p : *list)
    out += p.name + (p.kind == net::provider_kind::anthropic ? " anthropic " : " other ") + p.base_url + " " +
           p.reported_url + " " + p.api_key + ";";
  return out;
}

net::provider anthropic() {
  net::provider p;
  p.name = p.handle_prefix = p.type = "anthropic";
  p.kind = net::provider_kind::anthropic;
  p.base_url = "http://proxy/v1";
  p.reported_url = "https://api.anthropic.com/v1";
  return p;
}

} // namespace

CAF_TEST(anthropic by the environment) {
  CAF_CHECK_EQUAL(providers({}), "");
  CAF_CHECK_EQUAL(providers({{"ANTHROPIC_API_KEY", "k"}}),
                  "anthropic anthropic https://api.anthropic.com/v1 https://api.anthropic.com/v1 k;");
  CAF_CHECK_EQUAL(providers({{"ANTHROPIC_API_KEY", "k"}, {"ANTHROPIC_BASE_URL", "http://proxy/"}}),
                  "anthropic anthropic http://proxy/v1 https://api.anthropic.com/v1 k;");
  CAF_CHECK_EQUAL(providers({{"ANTHROPIC_BASE_URL", "http://proxy/v1"}}),
                  "anthropic anthropic http://proxy/v1 https://api.anthropic.com/v1 ;");
  // In the order of the API's list.
  CAF_CHECK_EQUAL(
      providers({{"OLLAMA_BASE_URL", "http://o"}, {"ANTHROPIC_API_KEY", "k"}, {"OPENAI_API_KEY", "x"}}),
      "openai other https://api.openai.com/v1  x;"
      "anthropic anthropic https://api.anthropic.com/v1 https://api.anthropic.com/v1 k;"
      "ollama other http://o/v1  ;");
}

CAF_TEST(the list of anthropic) {
  auto list = net::models_from_list(
      anthropic(), parsed(R"({"data":[{"type":"model","id":"claude-sonnet-4-5-20250929"},{"id":"claude-2.1"},
    {"id":"claude-haiku-4-5-20251001"},{"id":"claude-opus-4-6"},{"id":"claude-3-5-sonnet-20241022"},{"id":"claude-opus-4-20250514"}]})"));
  std::string shown;
  for (auto& m : list) {
    auto& c = m.config;
    shown += m.handle + " " + c.model + " " + std::to_string(c.context_window) + " " +
             std::to_string(*c.max_tokens) + "\n";
    CAF_CHECK_EQUAL(c.handle.value(), m.handle);
    CAF_CHECK_EQUAL(c.model_endpoint.value(), "https://api.anthropic.com/v1");
    CAF_CHECK(protocol::kind_of(c) == protocol::kind::messages);
  }
  CAF_CHECK_EQUAL(shown, "anthropic/claude-3-5-sonnet claude-3-5-sonnet-20241022 200000 16384\n"
                         "anthropic/claude-haiku-4-5 claude-haiku-4-5-20251001 200000 8192\n"
                         "anthropic/claude-opus-4-20250514 claude-opus-4-20250514 200000 16384\n"
                         "anthropic/claude-opus-4-6 claude-opus-4-6 200000 21000\n"
                         "anthropic/claude-sonnet-4-5-20250929 claude-sonnet-4-5-20250929 200000 16384\n");
}

CAF_TEST(a gateway speaks its own protocol for everybody) {
  net::provider gateway = anthropic();
  gateway.kind = net::provider_kind::gateway;
  gateway.reported_url.clear();
  auto c = net::default_config(gateway, "claude-haiku-4-5-20251001");
  CAF_CHECK_EQUAL(c.model_endpoint_type, "anthropic");
  CAF_CHECK_EQUAL(c.handle.value(), "anthropic/claude-haiku-4-5-20251001"); // as it was asked for
  CAF_CHECK(protocol::kind_of(c) == protocol::kind::chat_completions);
}
