// A fuzz target is a function on bytes in a header of its own: the fuzzer and the unit tests' corpus suite call it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe::fuzz {

// What must hold whatever the input. The fuzzer reports the exception as a crash, the corpus suite as a failure.
inline void must(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

} // namespace troupe::fuzz

// Defines the entry of a fuzzer's program.
#define TROUPE_FUZZ_TARGET(function)                                                                         \
  extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {                     \
    function({reinterpret_cast<const char*>(data), size});                                                   \
    return 0;                                                                                                \
  }
