// Where the server's options come from, and which of them win.
#define CAF_SUITE config_file
#include "runtime/config.hpp"

#include <CLI/CLI.hpp>
#include <caf/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace troupe::runtime;

namespace {

struct fixture {
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("troupe-config-" + std::to_string(::getpid()) + ".toml");
  config c;

  ~fixture() {
    std::filesystem::remove(file);
    ::unsetenv("TROUPE_QUEUE");
    ::unsetenv("LETTA_SERVER_SECURE");
  }

  void write(const char* text) { std::ofstream(file) << text; }

  // Reads as `troupe serve --config FILE ARGUMENTS` does; gives the error, or nothing.
  std::string read(std::vector<std::string> arguments = {}) {
    CLI::App app;
    auto* serve = app.add_subcommand("serve");
    add_options(*serve, c);
    arguments.insert(arguments.begin(), {"serve", "--config", file.string()});
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    try {
      app.parse(arguments);
      return {};
    } catch (const CLI::ParseError& e) { return e.what(); }
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(config_file_tests, fixture)

CAF_TEST(a file sets options and lists of them) {
  write("# comment\nqueue = 7\nsecure = true\nlog-level = \"warning\"\n"
        "provider = [\"lab=http://a/v1\", \"two=http://b/v1\"]\n");
  CAF_REQUIRE_EQUAL(read(), "");
  CAF_CHECK_EQUAL(c.queue, 7u);
  CAF_CHECK(c.secure);
  CAF_CHECK_EQUAL(c.log_level, "warning");
  CAF_REQUIRE_EQUAL(c.providers.size(), 2u);
  CAF_CHECK_EQUAL(c.providers[1], "two=http://b/v1");
  CAF_CHECK_EQUAL(c.workers, config{}.workers);
}

CAF_TEST(the environment goes before the file and flags before both) {
  write("queue = 7\nworkers = 3\nidle = 5\nsecure = true\n");
  ::setenv("TROUPE_QUEUE", "8", 1);
  ::setenv("LETTA_SERVER_SECURE", "false", 1);
  CAF_REQUIRE_EQUAL(read({"--workers", "4"}), "");
  CAF_CHECK_EQUAL(c.queue, 8u);
  CAF_CHECK_EQUAL(c.workers, 4u);
  CAF_CHECK_EQUAL(c.idle_s, 5);
  CAF_CHECK(!c.secure);
}

CAF_TEST(what is wrong with a file is an error that names it) {
  CAF_CHECK_NOT_EQUAL(read().find(file.string() + " cannot be read"), std::string::npos);
  write("prot = 8283\n");
  CAF_CHECK_NOT_EQUAL(read().find("prot"), std::string::npos);
  write("workers = 1000\n");
  auto why = read();
  CAF_CHECK_NOT_EQUAL(why.find(file.string()), std::string::npos);
  CAF_CHECK_NOT_EQUAL(why.find("workers"), std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
