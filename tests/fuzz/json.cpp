#include "tests/fuzz/json.hpp"

TROUPE_FUZZ_TARGET(troupe::fuzz::json_text)
