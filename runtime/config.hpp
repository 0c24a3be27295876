// What the server is started with: flags go before the environment, the environment before the configuration file
// (docs/configuration.md).
#pragma once

#include "actors/directory.hpp"
#include "net/http/server.hpp"
#include "net/providers/models.hpp"
#include "net/rest/services.hpp"
#include "net/sandbox/sandbox.hpp"

#include <filesystem>

namespace CLI {
class App;
}

namespace troupe::runtime {

struct config {
  net::http::server_options http;
  std::filesystem::path data;
  std::size_t workers = 2;                       // threads for agents and long reads
  std::size_t queue = 256;                       // turns that may wait for one agent
  std::size_t companions = 4;                    // of agents with sleeptime that work at once
  std::int64_t idle_s = 60;                      // before an idle agent leaves memory
  std::int64_t model_timeout_s = 600;            // of one call of a model
  std::size_t traces = 10'000, traces_mib = 256; // of steps; see storage::trace_limits
  net::sandbox_options sandbox;                  // of tools from source
  std::string tool_isolation = "auto";
  std::int64_t stop_s = 10; // for requests at work when the server is asked to stop
  std::int64_t max_body_mib = 32;
  std::int64_t header_s = 15, body_s = 60, connection_idle_s = 120; // see http::server_options
  std::int64_t max_context_window = 128'000;
  bool secure = false;
  std::string password;
  std::string busy = "queue";
  std::vector<std::string> origins;
  std::vector<std::string> rehearsals; // files of scripts
  bool list_rehearsals = false;
  bool cast = false;                  // a demo cast in a store without agents
  std::vector<std::string> providers; // name=url
  std::string gateway_url, gateway_key;
  std::string default_model, default_embedding;
  std::string log_level = "info";
  bool test_clock = false; // clients may set the clock forward
};

// Adds the options of `serve` to that command.
void add_options(CLI::App& s, config& c);

// Where data goes that nobody named a folder for: ~/.troupe.
std::filesystem::path default_data();

// A variable of the environment; nothing where it is not set or empty.
using variables = std::function<std::optional<std::string>(const char* name)>;
variables process_variables();

// The variables that hold secrets of the server's own.
std::vector<std::string> secret_variables(const config& c);

// The providers of models that the variables and the options ask for, in the order of the API's list.
// Errors: unprocessable, for options that make no sense.
result<std::vector<net::provider>> providers_of(const config& c, const variables& v);

} // namespace troupe::runtime
