#include "tests/fuzz/request.hpp"

TROUPE_FUZZ_TARGET(troupe::fuzz::request)
