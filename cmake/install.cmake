# What policies outside the tree include (docs/policies.md).
foreach(module base model perf solve policy)
  install(DIRECTORY "src/${module}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster" FILES_MATCHING PATTERN "*.h")
endforeach()
