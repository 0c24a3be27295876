# Warnings are errors everywhere; every target links troupe_options. Those who link an installed library have warnings of
# their own.
add_library(troupe_options INTERFACE)
target_include_directories(troupe_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/troupe>)
target_compile_features(troupe_options INTERFACE cxx_std_20)
target_compile_options(troupe_options INTERFACE $<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Werror> -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these in inlined standard library code at -O2.
  target_compile_options(troupe_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-stringop-overflow -Wno-array-bounds)
  # And this one where it inlines the allocation of a coroutine's frame, but not its release.
  target_compile_options(troupe_options INTERFACE $<$<CONFIG:Release>:-Wno-mismatched-new-delete>)
endif()
target_compile_definitions(troupe_options INTERFACE
  CAF_ENABLE_TYPE_ID_CHECKS
  SPDLOG_COMPILED_LIB
  SPDLOG_FMT_EXTERNAL
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ALLOW_DEPRECATED_HEADERS
  TROUPE_VERSION="${PROJECT_VERSION}")
if(TROUPE_FAULTS)
  target_compile_definitions(troupe_options INTERFACE TROUPE_FAULTS)
endif()
if(TROUPE_SANITIZE)
  target_compile_options(troupe_options INTERFACE -fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(troupe_options INTERFACE -fsanitize=${TROUPE_SANITIZE})
  if(TROUPE_SANITIZE MATCHES "undefined")
    # CAF binds a null reference inside its functor spawn.
    target_compile_options(troupe_options INTERFACE -fno-sanitize=null -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # its version 14 cannot compile this check beside coroutines
      target_compile_options(troupe_options INTERFACE -fno-sanitize=function)
    endif()
  endif()
endif()
