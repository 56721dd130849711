# What `make install` puts under a prefix. Files the tree does not have yet are passed over.
include(GNUInstallDirs)

if(TARGET muster)
  install(TARGETS muster RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY docs/man/ DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" OPTIONAL FILES_MATCHING PATTERN "*.1")
install(FILES completions/muster.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
        RENAME muster OPTIONAL)
install(FILES completions/_muster DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" OPTIONAL)
install(FILES completions/muster.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" OPTIONAL)
install(DIRECTORY presets experiments data DESTINATION "${CMAKE_INSTALL_DATADIR}/muster" OPTIONAL)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
