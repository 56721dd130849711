# Third-party libraries. `scripts/setup` installs them; docs/dependencies.md says why each was chosen.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(CBC REQUIRED IMPORTED_TARGET cbc)
pkg_check_modules(CLP REQUIRED IMPORTED_TARGET clp)

# Boosted trees for estimates; without it `muster learn` has the other models.
find_library(MUSTER_XGBOOST_LIBRARY xgboost)

# Debian's package sets toml++ up as a shared library; compiled into ours it can do without exceptions, and the
# command needs one library less at run time.
find_path(MUSTER_TOML_INCLUDE toml++/toml.h REQUIRED)
add_library(muster_toml INTERFACE)
target_include_directories(muster_toml SYSTEM INTERFACE "${MUSTER_TOML_INCLUDE}")
# src/base/toml_library.h is how it is included.

# What every room may use. Only fmt appears in our headers; the others stay inside .cc files, and the
# linker drops the shared libraries that nothing refers to.
set(MUSTER_NEEDS_PUBLIC fmt::fmt Threads::Threads)
set(MUSTER_NEEDS_PRIVATE nlohmann_json::nlohmann_json muster_toml PkgConfig::ZSTD)

# Tests and benches are built when their libraries are there, and insisted on when ON.
set(MUSTER_TESTS AUTO CACHE STRING "Build the tests: AUTO (when GoogleTest is found), ON or OFF")
set_property(CACHE MUSTER_TESTS PROPERTY STRINGS AUTO ON OFF)
if(MUSTER_TESTS STREQUAL "AUTO")
  find_package(GTest QUIET)
elseif(MUSTER_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(benchmark QUIET)
