# Third-party libraries. `scripts/setup` installs them; docs/dependencies.md says why each was chosen.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)

# muster_library(NAME HEADER FILE...): a target muster_NAME of the first FILE that is there, and of the folder of its
# header. Without a FILE it is loaded when first used (src/base/shared_library.h), and only the header is needed here.
function(muster_library name header)
  find_path(MUSTER_${name}_INCLUDE "${header}" REQUIRED)
  add_library(muster_${name} INTERFACE)
  target_include_directories(muster_${name} SYSTEM INTERFACE "${MUSTER_${name}_INCLUDE}")
  if(ARGN)
    find_library(MUSTER_${name}_LIBRARY NAMES ${ARGN} REQUIRED)
    target_link_libraries(muster_${name} INTERFACE "${MUSTER_${name}_LIBRARY}")
  endif()
endfunction()

# Small, and wanted by most commands: part of the command where there are static libraries.
muster_library(zlib zlib.h libz.a z)
muster_library(zstd zstd.h libzstd.a zstd)
muster_library(sqlite sqlite3.h libsqlite3.a sqlite3)
muster_library(curl curl/curl.h)
muster_library(crypto openssl/evp.h)
muster_library(cbc coin/Cbc_C_Interface.h)
muster_library(clp coin/Clp_C_Interface.h)


# Debian's package sets toml++ up as a shared library; compiled into ours it can do without exceptions, and the
# command needs one library less at run time.
muster_library(toml toml++/toml.h)
# src/base/toml_library.h is how it is included.

# What every module may use. Only fmt appears in our headers; the others stay inside .cc files, and the
# linker drops the shared libraries that nothing refers to.
set(MUSTER_NEEDS_PUBLIC fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
set(MUSTER_NEEDS_PRIVATE nlohmann_json::nlohmann_json muster_toml muster_zstd)

# Only what a preset asks for is looked for: whatever is or is not installed for the tests, the command builds.
if(MUSTER_TESTS)
  find_package(GTest REQUIRED)
  if(NOT TARGET GTest::gmock)
    message(FATAL_ERROR "The tests need GoogleMock beside GoogleTest: run `scripts/setup test`, or on Debian "
                        "`apt-get install libgmock-dev`. The command itself needs neither: `cmake --preset release`.")
  endif()
endif()
