# cmake --install: the program, and the library for tests with what it stands on (docs/testing.md):
# find_package(troupe), target_link_libraries(... troupe::testing).
install(TARGETS troupe RUNTIME)
set_target_properties(troupe_testing PROPERTIES EXPORT_NAME testing)
install(TARGETS troupe_options troupe_core troupe_storage troupe_actors troupe_net troupe_testing EXPORT troupe ARCHIVE)
install(EXPORT troupe NAMESPACE troupe:: FILE troupe-targets.cmake DESTINATION lib/cmake/troupe)
install(DIRECTORY core storage actors net testing DESTINATION include/troupe FILES_MATCHING PATTERN *.hpp)
install(FILES cmake/troupe-config.cmake cmake/FindCAF.cmake cmake/FindLMDB.cmake cmake/FindRE2.cmake DESTINATION lib/cmake/troupe)
