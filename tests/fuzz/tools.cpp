#include "tests/fuzz/tools.hpp"

TROUPE_FUZZ_TARGET(troupe::fuzz::memory_tools)
