#include "net/providers/provider.hpp"

#include "core/base/embedded.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/protocol.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

struct sizes {
  std::int64_t context_window = 30'000;
  std::int64_t max_tokens = 4096;
};

const json::value& table() {
  static const json::value v = *json::try_parse(embedded("models/models.json"));
  return v;
}

sizes sizes_of(const provider& p, std::string_view model) {
  sizes out;
  auto take = [&](const json::value& v) {
    out.context_window = json::int_or(v, "context_window", out.context_window);
    out.max_tokens = json::int_or(v, "max_tokens", out.max_tokens);
  };
  take(*json::find(table(), "default"));
  if (auto* own = json::find(*json::find(table(), "providers"), p.type)) take(*own);
  for (auto& row : json::find(table(), "prefixes")->get_array())
    if (model.starts_with(json::string_or(row, "model"))) {
      take(row);
      break;
    }
  return out;
}

bool is_openai_itself(const provider& p) {
  return p.type == "openai" && p.base_url.find("api.openai.com") != std::string::npos;
}

// Of OpenAI's long list only the models that chat.
bool chats(std::string_view model) {
  bool family = false;
  for (std::string_view start : {"gpt-4", "gpt-5", "o1", "o3", "o4"}) family |= model.starts_with(start);
  if (!family) return false;
  for (std::string_view other :
       {"transcribe", "search", "realtime", "tts", "audio", "computer", "o1-mini", "o1-preview", "o1-pro"})
    if (model.find(other) != std::string_view::npos) return false;
  return true;
}

// A few models have shorter names in their handles.
std::string handle_name(const provider& p, const std::string& model) {
  if (p.kind == provider_kind::gateway) return model; // as it was asked for
  auto* names = json::find(*json::find(table(), "handles"), p.name);
  return std::string(names ? json::string_or(*names, model, model) : std::string_view(model));
}

bool is_offered(const provider& p, std::string_view model) {
  if (p.kind == provider_kind::anthropic) return !model.starts_with("claude-2");
  return !is_openai_itself(p) || chats(model);
}

} // namespace

llm_config default_config(const provider& p, const std::string& model) {
  auto s = sizes_of(p, model);
  llm_config c;
  c.model = model;
  c.model_endpoint_type = p.type;
  c.model_endpoint = p.reported_url.empty() ? p.base_url : p.reported_url;
  if (p.kind == provider_kind::gateway) c.model_wrapper = protocol::compatible_wrapper;
  c.provider_name = p.name;
  c.provider_category_ = provider_category::base;
  c.context_window = s.context_window;
  c.handle = p.handle_prefix + "/" + handle_name(p, model);
  c.temperature = 1.0;
  c.max_tokens = s.max_tokens;
  return c;
}

std::vector<llm_model> models_from_list(const provider& p, const json::value& answer) {
  std::vector<llm_model> out;
  auto* data = json::find(answer, "data");
  if (!data || !data->is_array()) return out;
  for (auto& item : data->get_array()) {
    std::string id(json::string_or(item, "id"));
    if (id.empty() || !is_offered(p, id)) continue;
    auto config = default_config(p, id);
    llm_model m{*config.handle, std::move(config)};
    for (auto* key : {"max_model_len", "context_length", "context_window",
                      "max_context_length"}) // vLLM, and others that say
      if (auto n = json::int_or(item, key, 0); n > 0) m.config.context_window = n;
    out.push_back(std::move(m));
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.handle < b.handle; });
  return out;
}

std::vector<std::string> names_from_tags(const json::value& answer) {
  std::vector<std::string> out;
  if (auto* models = json::find(answer, "models"); models && models->is_array())
    for (auto& m : models->get_array())
      if (auto name = json::string_or(m, "name"); !name.empty()) out.emplace_back(name);
  return out;
}

ollama_model model_from_show(const provider& p, const std::string& name, const json::value& answer) {
  ollama_model out;
  bool tools = false, embeds = false;
  if (auto* abilities = json::find(answer, "capabilities"); abilities && abilities->is_array())
    for (auto& a : abilities->get_array()) {
      tools |= a.is_string() && json::view(a.get_string()) == "tools";
      embeds |= a.is_string() && json::view(a.get_string()) == "embedding";
    }
  auto number = [&](std::string_view ending) -> std::int64_t {
    auto* info = json::find(answer, "model_info");
    if (!info || !info->is_object()) return 0;
    for (auto& [key, v] : info->get_object())
      if (std::string_view(key.data(), key.size()).ends_with(ending) && v.is_number())
        return v.to_number<std::int64_t>();
    return 0;
  };
  if (tools) {
    out.llm = llm_model{p.handle_prefix + "/" + name, default_config(p, name)};
    auto window = number(".context_length");
    out.llm->config.context_window = window > 0 ? window : 128'000;
  }
  if (embeds) {
    embedding_config c;
    c.embedding_endpoint_type = "openai";
    c.embedding_endpoint = p.base_url;
    c.embedding_model = name;
    c.embedding_dim = number(".embedding_length");
    c.handle = p.handle_prefix + "/" + name;
    out.embedding = embedding_model{*c.handle, std::move(c)};
  }
  return out;
}

std::vector<embedding_model> fixed_embeddings(const provider& p) {
  std::vector<embedding_model> out;
  for (auto& row : json::find(table(), "embeddings")->get_array()) {
    embedding_config c;
    c.embedding_endpoint_type = "openai";
    c.embedding_endpoint = p.base_url;
    c.embedding_model = std::string(json::string_or(row, "model"));
    c.embedding_dim = json::int_or(row, "dim", 1536);
    c.handle =
        p.name + "/" + c.embedding_model; // the provider's own name, also where its models are a proxy's
    out.push_back({*c.handle, std::move(c)});
  }
  return out;
}

void write_model(std::string& out, const provider& p, const llm_model& m) {
  auto& c = m.config;
  json::object_writer(out)
      .add("handle", m.handle)
      .add("name", c.model)
      .add("display_name", c.display_name.value_or(c.model))
      .add("provider_type", c.model_endpoint_type)
      .add("provider_name", p.name)
      .add("model_type", "llm")
      .add("model", c.model)
      .add("model_endpoint_type", c.model_endpoint_type)
      .add("model_endpoint", c.model_endpoint)
      .add("provider_category", c.provider_category_)
      .add("model_wrapper", c.model_wrapper)
      .add("context_window", c.context_window)
      .add("put_inner_thoughts_in_kwargs", c.put_inner_thoughts_in_kwargs)
      .add("temperature", c.temperature)
      .add("max_tokens", c.max_tokens)
      .add("enable_reasoner", c.enable_reasoner)
      .add("reasoning_effort", c.reasoning_effort)
      .add("max_reasoning_tokens", c.max_reasoning_tokens)
      .add("effort", c.effort)
      .add("frequency_penalty", c.frequency_penalty)
      .add("compatibility_type", c.compatibility_type)
      .add("verbosity", c.verbosity)
      .add("tier", c.tier)
      .add("parallel_tool_calls", c.parallel_tool_calls)
      .add("response_format", c.response_format)
      .add("strict", c.strict)
      .add("return_logprobs", c.return_logprobs)
      .add("top_logprobs", c.top_logprobs)
      .add("return_token_ids", c.return_token_ids)
      .add("tool_call_parser", c.tool_call_parser)
      .add("max_context_window", c.context_window);
}

void write_embedding_model(std::string& out, const provider& p, const embedding_model& m) {
  auto& c = m.config;
  json::object_writer(out)
      .add("handle", m.handle)
      .add("name", c.embedding_model)
      .add("display_name", c.embedding_model)
      .add("provider_type", c.embedding_endpoint_type)
      .add("provider_name", p.name == "letta" ? c.embedding_endpoint_type : p.name) // as clients know it
      .add("model_type", "embedding")
      .add("embedding_endpoint_type", c.embedding_endpoint_type)
      .add("embedding_endpoint", c.embedding_endpoint)
      .add("embedding_model", c.embedding_model)
      .add("embedding_dim", c.embedding_dim)
      .add("embedding_chunk_size", c.embedding_chunk_size)
      .add("batch_size", c.batch_size)
      .add("azure_endpoint", c.azure_endpoint)
      .add("azure_version", c.azure_version)
      .add("azure_deployment", c.azure_deployment);
}

std::string vendor_type(std::string_view prefix) {
  for (std::string_view known :
       {"anthropic", "openai", "google_ai", "google_vertex", "azure", "groq", "together", "bedrock",
        "deepseek", "xai", "zai", "openrouter", "minimax", "baseten", "mistral", "cerebras", "fireworks"})
    if (prefix == known) return std::string(known);
  return "openai";
}

} // namespace troupe::net
