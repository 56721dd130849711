# How our own code is compiled: language level, warnings, sanitizers, compiler cache and linker.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# An archive needs no other archive to be built; only programs wait for all of them.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

option(MUSTER_INVARIANTS "Check the engine's invariants after every turn" OFF)
option(MUSTER_WERROR "Treat warnings as errors" ON)
option(MUSTER_UNITY "Compile the files of a folder together" ON)
option(MUSTER_TESTS "Build the tests (needs GoogleTest and GoogleMock)" OFF)
option(MUSTER_BENCHES "Build the benches" OFF)
option(MUSTER_PYTHON "Build the Python module muster._core (needs nanobind)" OFF)
option(MUSTER_FUZZ "Build the fuzzers with libFuzzer (needs clang)" OFF)
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers to build with, comma separated")

# Tests are optimised, but keep assert() and line tables; sanitizers want less inlining in their stacks.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
if(MUSTER_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
endif()

add_library(muster_flags INTERFACE)
target_include_directories(muster_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(muster_flags INTERFACE MUSTER_VERSION="${PROJECT_VERSION}")
target_compile_options(
  muster_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            # Indexing vectors with signed ids is everywhere; the narrowing half of -Wconversion stays on.
            -Wno-sign-conversion
            # Results must be equal bit for bit on every machine: never fuse a multiply with an add.
            -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports a false overlap inside std::string's operator+ (GCC bug 105329).
  target_compile_options(muster_flags INTERFACE -Wno-restrict)
endif()
if(MUSTER_WERROR)
  target_compile_options(muster_flags INTERFACE -Werror)
endif()
if(MUSTER_INVARIANTS)
  target_compile_definitions(muster_flags INTERFACE MUSTER_INVARIANTS=1)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(muster_flags INTERFACE _GLIBCXX_ASSERTIONS)
else()
  # Nobody replaces our functions at run time: those of the same file may be inlined.
  target_compile_options(muster_flags INTERFACE -fno-semantic-interposition)
  # Counting bits and rounding are one instruction on every such processor since 2009. No new way of adding or
  # multiplying comes with it, so that results stay equal bit for bit.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(muster_flags INTERFACE -march=x86-64-v2)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ clears small objects with `rep stos`, whose start alone takes longer than a few plain stores.
      target_compile_options(
        muster_flags INTERFACE -mmemset-strategy=unrolled_loop:256:noalign,rep_8byte:8192:noalign,libcall:-1:noalign)
    endif()
  endif()
endif()

if(MUSTER_SANITIZE)
  # Four checks of "undefined" that take most of its compile time and add little: the address sanitizer stops
  # at a null pointer or outside an object by itself, and nothing here casts raw memory.
  if(MUSTER_SANITIZE MATCHES "undefined")
    set(MUSTER_SANITIZE_LESS -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_compile_options(muster_flags INTERFACE -fsanitize=${MUSTER_SANITIZE} ${MUSTER_SANITIZE_LESS}
                                                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(muster_flags INTERFACE -fsanitize=${MUSTER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumentation hides initialisation from g++'s flow analysis.
    target_compile_options(muster_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(MUSTER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MUSTER_FUZZ needs clang++: use `cmake --preset fuzz`")
  endif()
  target_compile_options(muster_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_link_options(-Wl,--as-needed)
find_program(MUSTER_MOLD NAMES ld.mold)
if(MUSTER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Paths are hashed relative to the source tree, so that several checkouts share one cache.
find_program(MUSTER_CCACHE NAMES ccache)
if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
                                  CCACHE_NOHASHDIR=1 "${MUSTER_CCACHE}")
endif()
