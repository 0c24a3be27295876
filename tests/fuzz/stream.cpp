#include "tests/fuzz/stream.hpp"

TROUPE_FUZZ_TARGET(troupe::fuzz::stream)
