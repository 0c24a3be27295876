// The fuzz targets on their committed corpus: what the fuzzer once found stays found in every build.
#define CAF_SUITE corpus
#include "tests/fuzz/bodies.hpp"
#include "tests/fuzz/json.hpp"
#include "tests/fuzz/request.hpp"
#include "tests/fuzz/stream.hpp"
#include "tests/fuzz/tools.hpp"

#include <caf/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

using namespace troupe;

namespace {

void feed_corpus(const std::string& name, void (*target)(std::string_view)) {
  std::size_t files = 0;
  for (auto& entry : std::filesystem::directory_iterator(TROUPE_CORPUS "/" + name)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    ++files;
    try {
      target(bytes);
    } catch (const std::exception& e) { CAF_ERROR(entry.path().string() << ": " << e.what()); }
  }
  CAF_CHECK(files >= 20);
}

} // namespace

CAF_TEST(json) { feed_corpus("json", fuzz::json_text); }
CAF_TEST(requests) { feed_corpus("request", fuzz::request); }
CAF_TEST(bodies) { feed_corpus("bodies", fuzz::bodies); }
CAF_TEST(streams) { feed_corpus("stream", fuzz::stream); }
CAF_TEST(memory tools) { feed_corpus("tools", fuzz::memory_tools); }
