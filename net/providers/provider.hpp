// A provider of models as this server is configured with it, and what it offers (reference: resources §10.5, §10.6).
#pragma once

#include "core/schema/model.hpp"

namespace troupe::net {

enum class provider_kind {
  openai_compatible, // GET {base}/models, POST {base}/chat/completions
  anthropic,         // GET {base}/models, page by page; POST {base}/messages
  ollama,            // GET {root}/api/tags and /api/show; the rest as above under {root}/v1
  rehearsal,         // built in
  gateway            // any handle, through one OpenAI-compatible endpoint
};

struct provider {
  std::string name;          // as reported: openai, ollama, ...
  std::string handle_prefix; // before the slash of its handles
  std::string type;          // provider_type, and the endpoint type of its configurations
  provider_kind kind = provider_kind::openai_compatible;
  std::string base_url; // without a slash at the end
  std::string api_key;  // empty: none is sent
  std::size_t max_in_flight = 1024;
  bool lists_embeddings = false;
  std::string reported_url; // what configurations name instead of base_url, where it is not empty
};

struct llm_model {
  std::string handle;
  llm_config config; // what an agent gets that is created with it
};

struct embedding_model {
  std::string handle;
  embedding_config config;
};

// -- pure parts -----------------------------------------------------------------------------------
// The models of an answer to GET /models. A proxy's list is taken whole; of OpenAI's own only what chats, of
// Anthropic's what takes tools.
std::vector<llm_model> models_from_list(const provider& p, const json::value& answer);
// Names in an answer to Ollama's /api/tags.
std::vector<std::string> names_from_tags(const json::value& answer);
// One model of Ollama from its /api/show: a chat model with tools, an embedding model, or neither.
struct ollama_model {
  std::optional<llm_model> llm;
  std::optional<embedding_model> embedding;
};
ollama_model model_from_show(const provider& p, const std::string& name, const json::value& answer);

// The configuration of a model by the built-in table (configs/models/models.json).
llm_config default_config(const provider& p, const std::string& model);
std::vector<embedding_model> fixed_embeddings(const provider& p);

// The Model entries of the API.
void write_model(std::string& out, const provider& p, const llm_model& m);
void write_embedding_model(std::string& out, const provider& p, const embedding_model& m);

// What a vendor is called by its handles' prefix: the endpoint type that a gateway reports.
std::string vendor_type(std::string_view handle_prefix);

} // namespace troupe::net
