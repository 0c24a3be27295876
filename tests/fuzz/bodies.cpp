#include "tests/fuzz/bodies.hpp"

TROUPE_FUZZ_TARGET(troupe::fuzz::bodies)
