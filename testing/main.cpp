// The runner of all suites of this folder.
#include <caf/test/unit_test.hpp>
#include <caf/test/unit_test_impl.hpp>
