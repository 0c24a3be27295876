#include "runtime/commands.hpp"

#include "runtime/house.hpp"
#include "runtime/terminal/chat.hpp"
#include "runtime/terminal/groups.hpp"
#include "runtime/welcome.hpp"
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

// `program`: how this one was called, for what it tells people to type.
int serve(config c, const std::string& program) {
  start_logging(c.log_level);
  if (c.data.empty()) c.data = default_data();
  std::signal(SIGPIPE, SIG_IGN);
  watch_faults();
  allow_files(c.http.max_connections + 1000);
  if (auto fault = process_variables()("TROUPE_FAULT"); fault && !faults::arm(*fault))
    return failed(fail(errc::unprocessable, "TROUPE_FAULT=" + *fault + ": this build has no such fault"));
  auto h = open_house(c);
  if (!h) return failed(h.error());
  auto url = url_of(c, (*h)->port());
  std::cout << "Troupe " << TROUPE_VERSION << " listens on " << url << ", data in " << c.data.string()
            << std::endl;
  if (c.secure && c.password.empty()) std::cout << "Password: " << (*h)->password() << std::endl;
  auto password = c.secure ? (*h)->password() : std::string();
  (*h)->run([&](const std::string& models, bool has_cast) {
    std::cout << "Models: " << models << std::endl;
    if (has_cast)
      print_cast(std::cout, program, url, password);
    else
      print_example(std::cout, url, password);
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

namespace {

void add_server(CLI::App& command, server_address& at) {
  command.add_option("--url", at.url, "the server")->envname("LETTA_BASE_URL")->capture_default_str();
  command.add_option("--password", at.password, "its password")->envname("LETTA_SERVER_PASSWORD");
}

void add_chat(CLI::App& command, chat_options& talk) {
  add_server(command, talk.server);
  auto* agent = command.add_option("--agent", talk.agent, "id or name (default: the newest)");
  command.add_option("--group", talk.group, "a group instead: id, description, or words of it")
      ->excludes(agent);
  command.add_option("--model", talk.model, "handle of the model of a new agent");
  command.add_option("-m,--message", talk.message, "send one message and leave");
}

int exit_code(const result<void>& done) { return done ? 0 : failed(done.error()); }

} // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Troupe: a server for stateful AI agents"};
  app.require_subcommand(1);
  config c;
  c.password = process_variables()("LETTA_SERVER_PASSWORD").value_or("");
  auto* serving = app.add_subcommand("serve", "run the server");
  add_options(*serving, c);

  chat_options talk;
  auto* chatting = app.add_subcommand(
      "chat", "talk to an agent or a group of a running server; creates an agent if there is none");
  add_chat(*chatting, talk);

  server_address server;
  std::string traced_run;
  auto* grouping = app.add_subcommand("groups", "list the groups of a running server");
  add_server(*grouping, server);
  grouping->add_option("--trace", traced_run, "id of a group's run: who was asked what in it, and why");

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
  if (*serving) return serve(std::move(c), argv[0]);
  if (*checking) return check(data);
  if (*backing) return backup(data, target);
  if (*chatting) return exit_code(chat(talk, std::cin, std::cout));
  if (*grouping) return exit_code(show_groups(server, traced_run, std::cout));
  if (*version) std::cout << "troupe " << TROUPE_VERSION << std::endl;
  return 0;
}

} // namespace troupe::runtime
