#include "net/providers/registry.hpp"

#include "core/agents/reasoning.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/anthropic.hpp"
#include "core/protocol/protocol.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace troupe::net {

namespace {

constexpr std::string_view vendor_free_model = "letta-free";
constexpr std::chrono::milliseconds fresh_enough{5'000}; // before a handle that nobody has is asked for again
constexpr std::chrono::milliseconds list_age{60'000};    // of a list that clients see
constexpr int most_pages = 20;                           // of a list, each as long as the provider makes it

error unknown_handle(const std::string& handle) {
  return fail(errc::not_found, "NOT_FOUND: Handle " + handle + " not found, must be one of []");
}

} // namespace

registry::registry(asio::io_context& io, http_client& client, environment& env,
                   std::vector<provider> providers,
                   std::vector<std::shared_ptr<const rehearsal::script>> scripts, registry_options options)
    : io_(io), client_(client), env_(env), options_(options), scripts_(std::move(scripts)) {
  add_built_in();
  for (auto& p : providers) {
    auto o = std::make_unique<offer>();
    o->from = std::move(p);
    if (o->from.lists_embeddings) o->embeddings = fixed_embeddings(o->from);
    offers_.push_back(std::move(o));
  }
}

// The models that need nobody: the scripts, and the handle of the vendor's free model, which agents that come from
// there may name. Its service is not ours to call; the default script answers for it.
void registry::add_built_in() {
  auto vendor = std::make_unique<offer>();
  vendor->from = {"letta", "letta", "openai", provider_kind::rehearsal, "https://inference.letta.com/v1/", {},
                  1024,    false,   {}};
  llm_model free{"letta/letta-free", default_config(vendor->from, std::string(vendor_free_model))};
  free.config.context_window = 30'000;
  free.config.max_tokens = 4096;
  vendor->llms.push_back(std::move(free));
  embedding_config e;
  e.embedding_endpoint_type = "openai";
  e.embedding_endpoint = vendor->from.base_url;
  e.embedding_model = std::string(vendor_free_model);
  e.embedding_dim = 1536;
  e.handle = "letta/letta-free";
  vendor->embeddings.push_back({*e.handle, std::move(e)});
  offers_.push_back(std::move(vendor));

  auto own = std::make_unique<offer>();
  own->from = {"rehearsal", "rehearsal", "openai", provider_kind::rehearsal, "rehearsal://built-in", {},
               100'000,     false,       {}};
  for (auto& s : scripts_) {
    llm_model m{"rehearsal/" + s->name(), default_config(own->from, s->name())};
    m.config.context_window = s->context_window();
    m.config.max_tokens = 4096;
    own->llms.push_back(std::move(m));
  }
  offers_.push_back(std::move(own));
}

// -- asking providers -----------------------------------------------------------------------------
awaitable<std::optional<json::value>> registry::get(const provider& p, std::string url, std::string body) {
  client_request q;
  q.method = body.empty() ? "GET" : "POST";
  q.url = std::move(url);
  q.body = std::make_shared<const std::string>(std::move(body));
  q.timeout = options_.list_timeout;
  q.connect_timeout = options_.list_timeout;
  q.max_answer = 8 << 20;
  auto speaks =
      p.kind == provider_kind::anthropic ? protocol::kind::messages : protocol::kind::chat_completions;
  if (!p.api_key.empty()) q.headers.push_back(protocol::key_header(speaks, p.api_key));
  if (p.kind == provider_kind::anthropic)
    q.headers.push_back("anthropic-version: " + std::string(anthropic::version));
  if (q.method == "POST") q.headers.emplace_back("Content-Type: application/json");
  auto a = co_await fetch(client_, std::move(q));
  if (!a || a->status != 200) {
    spdlog::warn("provider {}: {}", p.name, a ? "HTTP " + std::to_string(a->status) : a.error().message);
    co_return std::nullopt;
  }
  co_return json::try_parse(a->body);
}

awaitable<void> registry::ask_list(offer& o) {
  auto v = co_await get(o.from, o.from.base_url + "/models", {});
  if (!v) {
    o.problem = "its list of models could not be read";
    co_return;
  }
  o.problem.clear();
  o.llms = models_from_list(o.from, *v);
}

// Anthropic's list comes in pages.
awaitable<void> registry::ask_pages(offer& o) {
  std::vector<llm_model> llms;
  std::string after;
  for (int page = 0; page < most_pages; ++page) {
    auto v = co_await get(o.from, o.from.base_url + "/models?limit=1000" + after, {});
    if (!v) {
      o.problem = "its list of models could not be read";
      co_return;
    }
    for (auto& m : models_from_list(o.from, *v)) llms.push_back(std::move(m));
    auto* more = json::find(*v, "has_more");
    auto last = json::string_or(*v, "last_id");
    if (!more || !more->is_bool() || !more->get_bool() || last.empty()) break;
    after = "&after_id=" + std::string(last);
  }
  o.problem.clear();
  o.llms = std::move(llms);
}

awaitable<void> registry::ask_ollama(offer& o) {
  auto root = o.from.base_url;
  if (root.ends_with("/v1")) root.resize(root.size() - 3);
  auto tags = co_await get(o.from, root + "/api/tags", {});
  if (!tags) {
    o.problem = "its list of models could not be read";
    co_return;
  }
  o.problem.clear();
  std::vector<llm_model> llms;
  std::vector<embedding_model> embeddings;
  for (auto& name : names_from_tags(*tags)) {
    json::object q;
    q["model"] = boost::json::string(name);
    auto shown = co_await get(o.from, root + "/api/show", json::print(json::value(std::move(q))));
    if (!shown) continue;
    auto m = model_from_show(o.from, name, *shown);
    if (m.llm) llms.push_back(std::move(*m.llm));
    if (m.embedding) embeddings.push_back(std::move(*m.embedding));
  }
  o.llms = std::move(llms);
  o.embeddings = std::move(embeddings);
}

// At most one question to a provider at a time; others wait for its answer.
awaitable<void> registry::refresh(offer& o, std::chrono::milliseconds max_age) {
  if (o.from.kind == provider_kind::rehearsal || o.from.kind == provider_kind::gateway) co_return;
  auto age = env_.monotonic_ns() - o.asked_ns;
  if (o.asked_ns != 0 && !o.asking && age < std::chrono::nanoseconds(max_age).count()) co_return;
  if (o.asking) {
    asio::steady_timer wait(io_, options_.list_timeout);
    o.waiting.push_back(&wait);
    [[maybe_unused]] auto [ec] = co_await wait.async_wait(asio::as_tuple(asio::use_awaitable));
    std::erase(o.waiting, &wait);
    co_return;
  }
  o.asking = true;
  if (o.from.kind == provider_kind::ollama)
    co_await ask_ollama(o);
  else if (o.from.kind == provider_kind::anthropic)
    co_await ask_pages(o);
  else
    co_await ask_list(o);
  o.asking = false;
  o.asked_ns = env_.monotonic_ns();
  for (auto* w : o.waiting) w->cancel();
}

awaitable<void> registry::refresh_all() {
  for (auto& o : offers_) co_await refresh(*o, std::chrono::milliseconds(0));
}

// -- looking up -----------------------------------------------------------------------------------
const llm_model* registry::find(std::string_view handle) const {
  for (auto& o : offers_)
    for (auto& m : o->llms)
      if (m.handle == handle) return &m;
  return nullptr;
}

std::optional<llm_config> registry::known(std::string_view handle) const {
  if (auto* m = find(handle)) {
    auto config = m->config;
    config.context_window = std::min(config.context_window, options_.max_context_window);
    return config;
  }
  auto slash = handle.find('/');
  if (slash == std::string_view::npos || slash + 1 >= handle.size()) return std::nullopt;
  for (auto& o : offers_)
    if (o->from.kind == provider_kind::gateway) { // takes any handle; the vendor is what the handle says
      provider vendor = o->from;
      vendor.handle_prefix = vendor.name = handle.substr(0, slash);
      vendor.type = vendor_type(vendor.name);
      return default_config(vendor, std::string(handle.substr(slash + 1)));
    }
  return std::nullopt;
}

awaitable<result<llm_config>> registry::resolve(std::string handle) {
  auto slash = handle.find('/');
  if (!find(handle) && slash != std::string::npos)
    for (std::size_t i = 0; i < offers_.size(); ++i)
      if (auto& o = *offers_[i]; o.from.handle_prefix == handle.substr(0, slash))
        co_await refresh(o, fresh_enough);
  if (auto config = known(handle)) co_return *config;
  co_return unknown_handle(handle);
}

awaitable<result<embedding_config>> registry::resolve_embedding(std::string handle) {
  auto look = [&]() -> const embedding_model* {
    for (auto& o : offers_)
      for (auto& m : o->embeddings)
        if (m.handle == handle) return &m;
    return nullptr;
  };
  auto* known = look();
  if (!known) {
    auto prefix = handle.substr(0, handle.find('/'));
    for (std::size_t i = 0; i < offers_.size(); ++i)
      if (auto& o = *offers_[i]; o.from.handle_prefix == prefix) co_await refresh(o, fresh_enough);
    known = look();
  }
  if (!known) co_return invalid_argument("Embedding model " + handle + " not found");
  co_return known->config;
}

// A toy has no place in the list of a server with real models; its handles work all the same.
bool registry::lists(const offer& o) const {
  if (o.from.kind != provider_kind::rehearsal || o.from.name == "letta" || options_.always_list_rehearsal)
    return true;
  return std::all_of(offers_.begin(), offers_.end(),
                     [](auto& x) { return x->from.kind == provider_kind::rehearsal; });
}

awaitable<std::string> registry::list_models(filter f) {
  std::string out = "[";
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    auto& o = *offers_[i];
    if (!lists(o)) continue;
    bool category = f.categories.empty() || std::find(f.categories.begin(), f.categories.end(),
                                                      provider_category::base) != f.categories.end();
    auto own_type = o.from.kind == provider_kind::rehearsal ? o.from.name : o.from.type;
    if (!category || (f.provider_name && o.from.name != *f.provider_name) ||
        (f.provider_type && own_type != *f.provider_type))
      continue;
    co_await refresh(o, list_age);
    for (auto& m : o.llms) {
      if (out.size() > 1) out.push_back(',');
      write_model(out, o.from, m);
    }
  }
  co_return out + "]";
}

awaitable<std::string> registry::list_embeddings() {
  std::string out = "[";
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    auto& o = *offers_[i];
    co_await refresh(o, list_age);
    for (auto& m : o.embeddings) {
      if (out.size() > 1) out.push_back(',');
      write_embedding_model(out, o.from, m);
    }
  }
  co_return out + "]";
}

std::string registry::summary() const {
  std::string out;
  for (auto& o : offers_) {
    if (!lists(*o) || o->from.name == "letta") continue;
    out.append(out.empty() ? "" : "; ").append(o->from.name);
    if (o->from.kind == provider_kind::gateway)
      out += " (any model, by " + o->from.base_url + ")";
    else if (!o->problem.empty())
      out += " (" + o->problem + ")";
    else
      out += " (" + std::to_string(o->llms.size()) + (o->llms.size() == 1 ? " model)" : " models)");
  }
  return out;
}

const provider* registry::provider_of(const llm_config& c) const {
  auto handle = c.handle.value_or("");
  auto prefix = handle.substr(0, handle.find('/'));
  const provider* gateway = nullptr;
  bool messages = protocol::kind_of(c) == protocol::kind::messages;
  for (auto& o : offers_) {
    if (o->from.kind == provider_kind::gateway) gateway = &o->from;
    if (messages != (o->from.kind == provider_kind::anthropic)) continue; // it would not understand
    if (!prefix.empty() && o->from.handle_prefix == prefix &&
        (!c.provider_name || *c.provider_name == o->from.name))
      return &o->from;
  }
  if (gateway && c.model_endpoint == gateway->base_url) return gateway;
  return nullptr;
}

const rehearsal::script* registry::script_of(const llm_config& c) const {
  for (auto& s : scripts_)
    if (s->name() == c.model) return s.get();
  return scripts_.empty() ? nullptr : scripts_.front().get();
}

} // namespace troupe::net
