#include "runtime/config.hpp"

#include "core/base/text.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <fstream>

namespace troupe::runtime {

namespace {

// Everything but the file that may hold it.
void add_settings(CLI::App& s, config& c) {
  auto number = [&](const char* flag, auto& value, const char* what, const char* variable, int least,
                    int most) {
    s.add_option(flag, value, what)->envname(variable)->check(CLI::Range(least, most))->capture_default_str();
  };
  s.add_option("--host", c.http.host, "address to listen on")->envname("TROUPE_HOST")->capture_default_str();
  s.add_option("--port", c.http.port, "port to listen on; 0: any free one")
      ->envname("TROUPE_PORT")
      ->capture_default_str();
  s.add_option("--data", c.data, "folder that everything is kept in (default: ~/.troupe)")
      ->envname("TROUPE_DATA");
  s.add_option("--tls-certificate", c.http.tls_certificate, "PEM file; with it the server speaks TLS")
      ->envname("TROUPE_TLS_CERTIFICATE");
  s.add_option("--tls-key", c.http.tls_key, "PEM file of its key")->envname("TROUPE_TLS_KEY");
  s.add_flag("--secure", c.secure, "ask every request for the password")->envname("LETTA_SERVER_SECURE");
  s.add_option("--password", c.password,
               "the password (better in the environment; a random one is printed where none is set)")
      ->envname("LETTA_SERVER_PASSWORD");
  s.add_option("--cors-origin", c.origins, "origin of web pages that may call (more than one: repeat)")
      ->envname("TROUPE_CORS_ORIGINS")
      ->delimiter(',');
  number("--workers", c.workers, "threads for agents and long reads", "TROUPE_WORKERS", 1, 64);
  number("--queue", c.queue, "turns that may wait for one agent", "TROUPE_QUEUE", 1, 100'000);
  number("--companions", c.companions, "companions of agents that work in the background at once",
         "TROUPE_COMPANIONS", 1, 1000);
  s.add_option("--busy", c.busy, "a request whose agent is at work: queue, reject (409) or interrupt")
      ->envname("TROUPE_BUSY")
      ->check(CLI::IsMember({"queue", "reject", "interrupt"}))
      ->capture_default_str();
  number("--traces", c.traces, "steps whose request and reply are kept; 0: none", "TROUPE_TRACES", 0,
         100'000'000);
  number("--traces-mib", c.traces_mib, "MiB that they may take", "TROUPE_TRACES_MIB", 1, 1'000'000);
  number("--idle", c.idle_s, "seconds before an idle agent leaves memory", "TROUPE_IDLE", 1, 1'000'000);
  number("--model-timeout", c.model_timeout_s, "seconds for one call of a model", "TROUPE_MODEL_TIMEOUT", 1,
         86'400);
  auto& tools = c.sandbox;
  number("--tool-timeout", tools.seconds, "seconds for one call of a tool made from source",
         "TOOL_SANDBOX_TIMEOUT", 1, 86'400);
  number("--tool-memory", tools.memory_mib, "MiB of address space for one such call", "TROUPE_TOOL_MEMORY",
         64, 1'000'000);
  number("--tools-at-once", tools.at_once, "such calls at the same time; more wait", "TROUPE_TOOLS_AT_ONCE",
         1, 1'000);
  s.add_option("--tool-python", tools.keeper.python,
               "the Python that they run in, as of a virtual environment")
      ->envname("TROUPE_TOOL_PYTHON")
      ->capture_default_str();
  s.add_option("--tool-isolation", c.tool_isolation, "auto, bubblewrap (or they do not run), none")
      ->envname("TROUPE_TOOL_ISOLATION")
      ->check(CLI::IsMember({"auto", "bubblewrap", "none"}))
      ->capture_default_str();
  number("--stop-timeout", c.stop_s, "seconds for requests at work when the server stops",
         "TROUPE_STOP_TIMEOUT", 0, 3'600);
  number("--max-body", c.max_body_mib, "MiB of a request's body", "TROUPE_MAX_BODY", 1, 1'024);
  number("--header-timeout", c.header_s, "seconds for the head of a request", "TROUPE_HEADER_TIMEOUT", 1,
         86'400);
  number("--body-timeout", c.body_s, "seconds for the body of a request", "TROUPE_BODY_TIMEOUT", 1, 86'400);
  number("--idle-timeout", c.connection_idle_s, "seconds that a connection may rest between two requests",
         "TROUPE_IDLE_TIMEOUT", 1, 86'400);
  number("--max-connections", c.http.max_connections, "connections at the same time",
         "TROUPE_MAX_CONNECTIONS", 1, 1'000'000);
  s.add_option("--max-context-window", c.max_context_window, "tokens of agents that do not ask for more")
      ->envname("GLOBAL_MAX_CONTEXT_WINDOW_LIMIT")
      ->capture_default_str();
  s.add_option("--default-model", c.default_model, "handle for agents that name no model")
      ->envname("LETTA_DEFAULT_LLM_HANDLE");
  s.add_option("--default-embedding", c.default_embedding, "handle for agents that name no embedding")
      ->envname("LETTA_DEFAULT_EMBEDDING_HANDLE");
  s.add_option("--provider", c.providers,
               "NAME=URL of an OpenAI-compatible endpoint; its key is NAME_API_KEY (repeat)")
      ->envname("TROUPE_PROVIDERS")
      ->delimiter(',');
  s.add_option("--gateway", c.gateway_url, "OpenAI-compatible endpoint that takes every handle")
      ->envname("TROUPE_GATEWAY_URL");
  s.add_option("--gateway-key", c.gateway_key, "its key (better in the environment)")
      ->envname("TROUPE_GATEWAY_KEY");
  s.add_option("--rehearsal", c.rehearsals,
               "file of a rehearsal script: a model named rehearsal/<file name> (repeat)")
      ->envname("TROUPE_REHEARSALS")
      ->delimiter(',');
  s.add_flag("--list-rehearsals", c.list_rehearsals, "list the built-in models beside real ones")
      ->envname("TROUPE_LIST_REHEARSALS");
  s.add_flag("--cast", c.cast, "begin with a small cast of agents and groups where there are no agents yet")
      ->envname("TROUPE_CAST");
  s.add_flag("--test-clock", c.test_clock, "for tests: clients may set the server's clock forward");
  s.add_option("--log-level", c.log_level, "debug, info, warning, error")
      ->envname("TROUPE_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
}

void read_file(config& c, const std::string& file) {
  std::ifstream in(file);
  if (!in) throw CLI::FileError("--config: the file " + file + " cannot be read");
  CLI::App settings;
  settings.allow_config_extras(CLI::config_extras_mode::error);
  add_settings(settings, c);
  try {
    settings.parse_from_stream(in);
  } catch (const CLI::ParseError& e) { throw CLI::FileError("--config " + file + ": " + e.what()); }
}

} // namespace

void add_options(CLI::App& s, config& c) {
  // The first of the options: its callback runs before those of the others, so that they go over what the file says.
  s.add_option_function<std::string>(
       "--config", [&c](const std::string& file) { read_file(c, file); },
       "file with these options, one a line: port = 8283")
      ->envname("TROUPE_CONFIG");
  add_settings(s, c);
}

std::filesystem::path default_data() {
  auto home = process_variables()("HOME");
  return home ? std::filesystem::path(*home) / ".troupe" : std::filesystem::path("troupe-data");
}

variables process_variables() {
  return [](const char* name) -> std::optional<std::string> {
    auto* v = std::getenv(name);
    return v && *v ? std::optional<std::string>(v) : std::nullopt;
  };
}

namespace {

constexpr std::string_view openai_base = "https://api.openai.com/v1";
constexpr std::string_view anthropic_base = "https://api.anthropic.com/v1";

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// Local servers are named by their root; the protocol lives below /v1.
std::string with_version(const std::string& url) {
  auto base = without_slash(url);
  return base.ends_with("/v1") ? base : base + "/v1";
}

net::provider compatible(std::string name, std::string base, std::string key) {
  net::provider p;
  p.handle_prefix = name;
  p.name = std::move(name);
  p.type = "openai";
  p.base_url = std::move(base);
  p.api_key = std::move(key);
  return p;
}

// Configurations name the vendor's address, whichever way the calls take.
net::provider anthropic(const variables& v) {
  auto p =
      compatible("anthropic", with_version(v("ANTHROPIC_BASE_URL").value_or(std::string(anthropic_base))),
                 v("ANTHROPIC_API_KEY").value_or(""));
  p.type = "anthropic";
  p.kind = net::provider_kind::anthropic;
  p.reported_url = anthropic_base;
  return p;
}

std::string key_variable(std::string_view provider) {
  std::string out;
  for (char ch : provider)
    out.push_back(std::isalnum(static_cast<unsigned char>(ch))
                      ? static_cast<char>(std::toupper(static_cast<unsigned char>(ch)))
                      : '_');
  return out + "_API_KEY";
}

result<net::provider> named(const std::string& text, const variables& v) {
  auto equals = text.find('=');
  auto name = text.substr(0, equals);
  if (equals == std::string::npos || name.empty() || text.find("://", equals) == std::string::npos)
    return fail(errc::unprocessable,
                "--provider " + text + ": write NAME=URL, as in --provider lab=http://10.0.0.5:8000/v1");
  return compatible(name, without_slash(text.substr(equals + 1)), v(key_variable(name).c_str()).value_or(""));
}

} // namespace

result<std::vector<net::provider>> providers_of(const config& c, const variables& v) {
  std::vector<net::provider> out;
  auto key = v("OPENAI_API_KEY");
  auto base = v("OPENAI_BASE_URL") ? v("OPENAI_BASE_URL") : v("OPENAI_API_BASE");
  if (key || base) {
    auto p = compatible("openai", without_slash(base.value_or(std::string(openai_base))), key.value_or(""));
    if (p.base_url != openai_base) p.handle_prefix = "openai-proxy";
    p.lists_embeddings = true;
    out.push_back(std::move(p));
  }
  if (v("ANTHROPIC_API_KEY") || v("ANTHROPIC_BASE_URL")) out.push_back(anthropic(v));
  if (auto url = v("OLLAMA_BASE_URL")) {
    auto p = compatible("ollama", with_version(*url), {});
    p.kind = net::provider_kind::ollama;
    out.push_back(std::move(p));
  }
  if (auto url = v("VLLM_API_BASE")) {
    auto p = compatible("vllm", with_version(*url), v("VLLM_API_KEY").value_or(""));
    p.handle_prefix = v("VLLM_HANDLE_BASE").value_or("vllm");
    out.push_back(std::move(p));
  }
  if (auto url = v("LMSTUDIO_BASE_URL")) out.push_back(compatible("lmstudio_openai", with_version(*url), {}));
  if (auto url = v("LLAMACPP_BASE_URL"))
    out.push_back(compatible("llamacpp", with_version(*url), v("LLAMACPP_API_KEY").value_or("")));
  for (auto& text : c.providers) {
    auto p = named(text, v);
    if (!p) return p.error();
    out.push_back(std::move(*p));
  }
  if (!c.gateway_url.empty()) {
    auto p = compatible("gateway", without_slash(c.gateway_url), c.gateway_key);
    p.kind = net::provider_kind::gateway;
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<std::string> secret_variables(const config& c) {
  std::vector<std::string> out{"LETTA_SERVER_PASSWORD", "TROUPE_GATEWAY_KEY"};
  for (auto name : {"openai", "anthropic", "vllm", "llamacpp"}) out.push_back(key_variable(name));
  for (auto& p : c.providers) out.push_back(key_variable(std::string_view(p).substr(0, p.find('='))));
  return out;
}

} // namespace troupe::runtime
