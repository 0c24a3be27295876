// /models (reference: resources §10.6)
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"

namespace troupe::net::rest {

namespace {

// The types of provider that the API knows. One has a hyphen in it, as no name of C++ can.
struct provider_type_text {
  std::string value;
};

bool read(json::reader& r, const json::value& v, provider_type_text& out) {
  static const std::vector<std::string_view> known{"anthropic", "azure",           "baseten",  "bedrock",
                                                   "cerebras",  "chatgpt_oauth",   "deepseek", "fireworks",
                                                   "google_ai", "google_vertex",   "groq",     "hugging-face",
                                                   "letta",     "lmstudio_openai", "minimax",  "mistral",
                                                   "ollama",    "openai",          "together", "vllm",
                                                   "sglang",    "openrouter",      "xai",      "zai",
                                                   "zai_coding"};
  if (v.is_string()) out.value = json::view(v.get_string());
  if (v.is_string() && std::find(known.begin(), known.end(), out.value) != known.end()) return true;
  auto expected = json::alternatives(known);
  return r.fail("enum", "Input should be " + expected, v,
                "{'expected': " + json::python_repr(std::string_view{expected}) + "}");
}

struct model_parameters {
  std::vector<provider_category> provider_category_;
  std::optional<std::string> provider_name;
  std::optional<provider_type_text> provider_type;
};
BOOST_DESCRIBE_STRUCT(model_parameters, (), (provider_category_, provider_name, provider_type))

awaitable<outcome> list_models(call& c) {
  auto p = query_of<model_parameters>(c);
  if (!p) co_return p.error();
  std::optional<std::string> type;
  if (p->provider_type) type = p->provider_type->value;
  registry::filter f{p->provider_category_, p->provider_name, std::move(type)};
  co_return http::response::json(co_await c.s.models->list_models(std::move(f)));
}

awaitable<outcome> list_embeddings(call& c) {
  co_return http::response::json(co_await c.s.models->list_embeddings());
}

} // namespace

void add_models(router& r) {
  r.add("GET", "/models/", list_models);
  r.add("GET", "/models/embedding", list_embeddings);
  r.add("GET", "/models/embeddings", list_embeddings);
}

} // namespace troupe::net::rest
