# What `make install` puts under a prefix. Files the tree does not have yet are passed over.
include(GNUInstallDirs)

if(TARGET muster)
  install(TARGETS muster muster-keeper RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
# The man page and the completions are written by the command itself, so that they cannot disagree with it.
if(TARGET muster)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
  install(CODE "
    file(MAKE_DIRECTORY \"${generated}\")
    foreach(page \"man;muster.1\" \"completion;bash;muster\" \"completion;zsh;_muster\"
                 \"completion;fish;muster.fish\")
      list(POP_BACK page file)
      execute_process(COMMAND \"$<TARGET_FILE:muster>\" \${page} OUTPUT_FILE \"${generated}/\${file}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES "${generated}/muster.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${generated}/muster" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${generated}/_muster" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${generated}/muster.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
install(DIRECTORY presets experiments data DESTINATION "${CMAKE_INSTALL_DATADIR}/muster" OPTIONAL)
# The client for jobs, in Python and as a C++ header, and a unit for systemd.
install(DIRECTORY python/muster_job DESTINATION "${CMAKE_INSTALL_DATADIR}/muster/python" PATTERN "__pycache__" EXCLUDE)
install(FILES include/muster/job.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster")
# The prefix is known when it is installed: it need not be the one of the configuration.
install(CODE "
  set(bin \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  set(etc \"\${CMAKE_INSTALL_PREFIX}/etc\")
  # What an operator has written is kept.
  if(NOT EXISTS \"\$ENV{DESTDIR}\${etc}/muster/muster.toml\")
    file(INSTALL \"${PROJECT_SOURCE_DIR}/cmake/muster.toml\" DESTINATION \"\${etc}/muster\")
  endif()
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/muster.service.in\" \"${CMAKE_CURRENT_BINARY_DIR}/muster.service\" @ONLY)")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/muster.service" DESTINATION lib/systemd/system)
install(FILES LICENSE THIRD_PARTY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# What policies outside the tree include (docs/policies.md).
foreach(module base model perf solve policy)
  install(DIRECTORY "src/${module}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster" FILES_MATCHING PATTERN "*.h")
endforeach()
