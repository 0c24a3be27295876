#include "runtime/commands.hpp"

#include "core/base/text.hpp"
#include "runtime/chat.hpp"
#include "runtime/house.hpp"
#include "storage/faults.hpp"
#include "storage/lmdb_store.hpp"
#include "storage/setup.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>

#include <csignal>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

namespace troupe::runtime {

namespace {

int failed(const error& e) {
  std::cerr << "troupe: " << e.message << std::endl;
  return 1;
}

void start_logging(const std::string& level) {
  auto log = spdlog::stderr_logger_mt("troupe");
  log->set_level(spdlog::level::from_str(level));
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
  spdlog::set_default_logger(std::move(log));
}

std::string url_of(const config& c, std::uint16_t port) {
  auto host = c.http.host == "0.0.0.0" || c.http.host == "::" ? std::string("127.0.0.1") : c.http.host;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (c.http.tls_certificate.empty() ? "http://" : "https://") + host + ":" + std::to_string(port);
}

// What a newcomer can paste into another terminal.
void print_example(const std::string& url, const std::string& password) {
  auto key = password.empty()
                 ? std::string()
                 : " -H 'Authorization: Bearer " + text::replace_all(password, "'", R"('\'')") + "'";
  std::cout
      << "\nTry in another terminal:\n\n"
      << "  AGENT=$(curl -s" << key << " " << url
      << "/v1/agents/ -d '{\"model\": \"rehearsal/default\", \"memory_blocks\": [{\"label\": \"human\", "
         "\"value\": \"\"}]}'"
      << " | grep -o 'agent-[0-9a-f-]*' | head -1)\n"
      << "  curl -sN" << key << " " << url
      << "/v1/agents/$AGENT/messages/stream -d '{\"input\": \"My name is Ada.\", \"stream_tokens\": true}'\n"
      << "  curl -s" << key << " " << url << "/v1/agents/$AGENT/core-memory/blocks/human\n"
      << std::endl;
}

// A connection is a file; what a login allows is for programs that have few.
void allow_files(rlim_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= wanted) return;
  files.rlim_cur = std::min(files.rlim_max, wanted);
  setrlimit(RLIMIT_NOFILE, &files);
}

// The store is a map of its file: where the file was cut short or the disk cannot be read, the kernel says so like this.
extern "C" void end_unreadable(int) {
  constexpr std::string_view text = "troupe: the store cannot be read, it is damaged: restore a backup, or "
                                    "move the folder away to begin anew\n";
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(1);
}

// LMDB trusts its pages: one that is damaged may lead it anywhere.
extern "C" void end_faulted(int) {
  constexpr std::string_view text = "troupe: stopped by a fault of memory: either the store is damaged "
                                    "(`troupe check` tells; restore a backup "
                                    "then), or this is a defect of Troupe\n";
  [[maybe_unused]] auto n = ::write(2, text.data(), text.size());
  ::_exit(1);
}

// A sanitizer has handlers of its own, which tell more.
void watch_faults() {
  std::signal(SIGBUS, end_unreadable);
#ifndef __SANITIZE_ADDRESS__
  std::signal(SIGSEGV, end_faulted);
#endif
}

int serve(config c) {
  start_logging(c.log_level);
  if (c.data.empty()) c.data = default_data();
  std::signal(SIGPIPE, SIG_IGN);
  watch_faults();
  allow_files(c.http.max_connections + 1000);
  if (auto fault = process_variables()("TROUPE_FAULT"); fault && !faults::arm(*fault))
    return failed(fail(errc::unprocessable, "TROUPE_FAULT=" + *fault + ": this build has no such fault"));
  auto h = open_house(c, std::make_shared<system_environment>());
  if (!h) return failed(h.error());
  auto url = url_of(c, (*h)->port());
  std::cout << "Troupe " << TROUPE_VERSION << " listens on " << url << ", data in " << c.data.string()
            << std::endl;
  if (c.secure && c.password.empty()) std::cout << "Password: " << (*h)->password() << std::endl;
  auto password = c.secure ? (*h)->password() : std::string();
  (*h)->run([url, password](const std::string& models) {
    std::cout << "Models: " << models << std::endl;
    print_example(url, password);
  });
  return 0;
}

result<std::unique_ptr<storage::database>> open_to_read(const std::filesystem::path& data) {
  watch_faults();
  storage::lmdb_options o;
  o.directory = data.empty() ? default_data() : data;
  o.create = false;
  o.read_only = true;
  return storage::open_lmdb(o);
}

int check(const std::filesystem::path& data) {
  auto db = open_to_read(data);
  if (!db) return failed(db.error());
  try {
    auto snapshot = (*db)->snapshot();
    if (auto known = storage::has_format(*snapshot); !known) return failed(known.error());
    auto r = storage::check(*snapshot);
    std::cout << r.agents << " agents, " << r.blocks << " blocks, " << r.tools << " tools, " << r.messages
              << " messages, " << r.runs << " runs, " << r.steps << " steps, " << r.conversations
              << " conversations" << std::endl;
    for (auto& p : r.problems) std::cout << "  " << p << std::endl;
    if (r.problems.empty()) return 0;
    return failed(
        fail(errc::unavailable, std::to_string(r.problems.size()) +
                                    " problems: restore a backup, or move the folder away to begin anew"));
  } catch (const std::exception& e) {
    return failed(fail(errc::unavailable, std::string("the store is damaged (") + e.what() +
                                              "): restore a backup, or move the folder away to begin anew"));
  }
}

int backup(const std::filesystem::path& data, const std::string& to) {
  auto db = open_to_read(data);
  if (!db) return failed(db.error());
  if (auto done = (*db)->backup(to); !done) return failed(done.error());
  std::cout << "copied to " << to << std::endl;
  return 0;
}

} // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Troupe: a server for stateful AI agents"};
  app.require_subcommand(1);
  config c;
  c.password = process_variables()("LETTA_SERVER_PASSWORD").value_or("");
  auto* serving = app.add_subcommand("serve", "run the server");
  add_options(*serving, c);

  chat_options talk;
  auto* chatting =
      app.add_subcommand("chat", "talk to an agent of a running server; creates one if there is none");
  chatting->add_option("--url", talk.url, "the server")->envname("LETTA_BASE_URL")->capture_default_str();
  chatting->add_option("--password", talk.password, "its password")->envname("LETTA_SERVER_PASSWORD");
  chatting->add_option("--agent", talk.agent, "id or name (default: the newest)");
  chatting->add_option("--model", talk.model, "handle of the model of a new agent");
  chatting->add_option("-m,--message", talk.message, "send one message and leave");

  std::filesystem::path data;
  std::string target;
  auto* checking = app.add_subcommand("check", "read the whole store and report what is wrong with it");
  checking->add_option("--data", data, "folder (default: ~/.troupe)")->envname("TROUPE_DATA");
  auto* backing = app.add_subcommand("backup", "copy the store, also while a server runs on it");
  backing->add_option("--data", data, "folder (default: ~/.troupe)")->envname("TROUPE_DATA");
  backing->add_option("to", target, "new folder for the copy")->required();
  auto* version = app.add_subcommand("version", "print the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e); // --help
    std::cerr << "troupe: " << e.what() << " (see troupe --help)" << std::endl;
    return 2;
  }
  if (*serving) return serve(std::move(c));
  if (*checking) return check(data);
  if (*backing) return backup(data, target);
  if (*version) {
    std::cout << "troupe " << TROUPE_VERSION << std::endl;
    return 0;
  }
  if (*chatting) {
    auto done = chat(talk, std::cin, std::cout);
    return done ? 0 : failed(done.error());
  }
  return 2;
}

} // namespace troupe::runtime
