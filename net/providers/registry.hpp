// Which models there are, and which provider serves which handle. Lives on the I/O thread.
#pragma once

#include "core/agents/create.hpp"
#include "core/base/environment.hpp"
#include "core/rehearsal/script.hpp"
#include "net/client/http_client.hpp"
#include "net/providers/provider.hpp"

#include <boost/asio/steady_timer.hpp>

namespace troupe::net {

struct registry_options {
  std::int64_t max_context_window = 128'000; // of agents that do not ask for more
  bool always_list_rehearsal = false;        // else only where no other provider is configured
  std::chrono::milliseconds list_timeout{5'000};
};

class registry {
public:
  registry(asio::io_context& io, http_client& client, environment& env, std::vector<provider> providers,
           std::vector<std::shared_ptr<const rehearsal::script>> scripts, registry_options options);

  // The configuration of a handle, as far as it is known without asking anybody.
  std::optional<llm_config> known(std::string_view handle) const;
  // The configuration of a handle. Asks providers again where the handle is not known yet. Errors: not_found.
  awaitable<result<llm_config>> resolve(std::string handle);
  awaitable<result<embedding_config>> resolve_embedding(std::string handle);

  struct filter {
    std::vector<provider_category> categories;
    std::optional<std::string> provider_name;
    std::optional<std::string> provider_type;
  };
  // JSON arrays of the API.
  awaitable<std::string> list_models(filter f);
  awaitable<std::string> list_embeddings();

  // Asks every provider for its models; for the start.
  awaitable<void> refresh_all();
  // A line for people: providers with the numbers of their models.
  std::string summary() const;

  // The provider that a configuration is to be called through; null: the configuration stands for itself.
  const provider* provider_of(const llm_config& c) const;
  // The script of a built-in model.
  const rehearsal::script* script_of(const llm_config& c) const;

private:
  struct offer {
    provider from;
    std::vector<llm_model> llms;
    std::vector<embedding_model> embeddings;
    std::int64_t asked_ns = 0; // 0: never
    bool asking = false;
    std::string problem;
    std::vector<asio::steady_timer*> waiting;
  };
  awaitable<void> refresh(offer& o, std::chrono::milliseconds max_age);
  awaitable<void> ask_list(offer& o);
  awaitable<void> ask_pages(offer& o);
  awaitable<void> ask_ollama(offer& o);
  awaitable<std::optional<json::value>> get(const provider& p, std::string url, std::string body);
  void add_built_in();
  const llm_model* find(std::string_view handle) const;
  bool lists(const offer& o) const;

  asio::io_context& io_;
  http_client& client_;
  environment& env_;
  registry_options options_;
  std::vector<std::unique_ptr<offer>> offers_; // in the order of the API's list
  std::vector<std::shared_ptr<const rehearsal::script>> scripts_;
};

} // namespace troupe::net
