#!/usr/bin/env bash
# The command configures whatever is or is not installed for the tests, and the tests say what they miss.
source tests/e2e/story.sh

# gtest NAME: a prefix whose GoogleTest is described by standard input.
gtest() {
  mkdir -p "$1/lib/cmake/GTest"
  cat >"$1/lib/cmake/GTest/GTestConfig.cmake"
}
gtest no-mock <<'END'
add_library(GTest::gtest INTERFACE IMPORTED)
add_library(GTest::gtest_main INTERFACE IMPORTED)
END
gtest broken <<'END'
message(FATAL_ERROR "this GoogleTest is broken")
END

# configure PRESET SETTING...: each preset in a folder of its own, where only its first call looks for the compiler.
configure() {
  cmake --preset "$1" -S "$tree" -B "$folder/$1" -UGTest_DIR "${@:2}"
}
no_mock=-DCMAKE_PREFIX_PATH=$folder/no-mock
broken=-DCMAKE_PREFIX_PATH=$folder/broken
none=-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON

tell "what make demo, build and install configure"
for setting in "$no_mock" "$broken" "$none"; do
  expect 0 configure release "$setting"
done
if grep -i 'gtest_dir\|benchmark_dir' release/CMakeCache.txt; then fail "the release looks for libraries of the tests"; fi

tell "what make bench configures"
expect 0 configure bench "$broken"

tell "what make test configures"
expect 1 configure test "$no_mock"
says "apt-get install libgmock-dev"
expect 1 configure test "$broken"
says "this GoogleTest is broken"
expect 1 configure test "$none"
says "GTest"
