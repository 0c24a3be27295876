// JSON text in and out, in Python's spelling where the API's texts are Python's.
#define CAF_SUITE json_value
#include "core/json/count.hpp"
#include "core/json/value.hpp"

#include <caf/test/unit_test.hpp>

using namespace troupe;

CAF_TEST(doubles are printed as Python prints them) {
  struct row {
    double value;
    const char* text;
  } rows[] = {{0.7, "0.7"},
              {1.0, "1.0"},
              {-0.0, "-0.0"},
              {1e16, "1e+16"},
              {1e-5, "1e-05"},
              {0.0001, "0.0001"},
              {123456789.125, "123456789.125"},
              {1e22, "1e+22"}};
  for (auto& r : rows) {
    std::string out;
    json::print_double(out, r.value);
    CAF_CHECK_EQUAL(out, r.text);
  }
}

CAF_TEST(values are counted without making them) {
  struct row {
    const char* text;
    std::size_t values;
  } rows[] = {{"1", 1},
              {"[]", 1},
              {" { } ", 1},
              {"[1]", 2},
              {"[1, 2, 3]", 4},
              {R"({"a": 1, "b": [{}, []]})", 5},
              {R"(["[[[", ",,,", "\"[", "\\"])", 5},
              {"[[[[[", 6},
              {"[,,,,,", 7},
              {R"("[,)", 1},
              {"\"\\", 1},
              {"", 1}};
  for (auto& r : rows) CAF_CHECK_EQUAL(json::count_values(r.text), r.values);
}
