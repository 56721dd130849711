# Tests and end-to-end scripts.
#
#   tests/<folder>/**.cc   one executable <folder>_test and one ctest entry of that name
#   tests/support/**.cc    helpers linked into every test
#   tests/programs/*.cc    one program each, built beside the tests, which start them as child processes
#   tests/e2e/*.sh         one ctest entry e2e_<name> per executable script; exit status 77 means skipped
#
# Labels choose what the sanitizer builds run: `threads` for tests that start threads,
# `slow` for folders of long suites. Single slow tests end their name in `Slow` instead; `plain` for folders
# that have some or are sampled under sanitizers.

set(MUSTER_THREADED_TESTS backend daemon base conformance run cli learn report)
# Of folders with many other tests, those that the thread sanitizer runs.
set(MUSTER_THREADED_FILTER_base "InParallel*")
set(MUSTER_THREADED_FILTER_backend "Mailbox*")
set(MUSTER_THREADED_FILTER_conformance "*OnEveryThread*")
set(MUSTER_THREADED_FILTER_daemon "Committer*:Questions*")
set(MUSTER_THREADED_FILTER_learn "*Threads*")
set(MUSTER_PLAIN_TESTS conformance learn report)
set(MUSTER_SLOW_TESTS parity parity_elasticflow parity_gavel parity_muri)

enable_testing()
add_custom_target(muster_tests)
add_custom_target(muster_quick_tests)
add_custom_target(muster_plain_tests)
add_custom_target(muster_threaded_tests)

set(MUSTER_TEST_ENVIRONMENT "MUSTER=$<TARGET_FILE:muster>")

# It is the code under test whose speed matters; optimising the tests would only take time.
set(MUSTER_TEST_OPTIONS -O0)

# The code block of a page in docs/ that follows "<!-- example: NAME -->", as guide_NAME.inc for tests/guide.
function(muster_extract_example page_name name)
  set(page "${PROJECT_SOURCE_DIR}/docs/${page_name}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
  file(READ "${page}" text)
  string(FIND "${text}" "<!-- example: ${name} -->" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "docs/${page_name} has no example '${name}'")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```cpp" begin)
  math(EXPR begin "${begin} + 6")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/guide/guide_${name}.inc" CONTENT "${text}" @ONLY)
endfunction()

function(muster_add_test_folder folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  if(NOT sources)
    return()
  endif()
  # LEMON's headers stop at C++17.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/solve/lemon_matching.cc"
                              PROPERTIES COMPILE_OPTIONS "-std=c++17" SKIP_UNITY_BUILD_INCLUSION ON)
  set(target ${folder}_test)
  muster_compiled_files(files "${PROJECT_SOURCE_DIR}/tests" ${sources})
  add_executable(${target} EXCLUDE_FROM_ALL ${files})
  target_link_libraries(${target} PRIVATE muster_test_support)
  muster_prefer_modules(${target})
  muster_link_everything(${target} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${MUSTER_TEST_OPTIONS})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # GoogleTest's parameterised suites call variadic macros with nothing in the variadic part.
    target_compile_options(${target} PRIVATE -Wno-gnu-zero-variadic-macro-arguments)
  endif()
  add_dependencies(${target} muster_test_programs)
  if(folder STREQUAL "guide")
    muster_extract_example(policies.md las)
    muster_extract_example(engine.md backend)
    target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/guide")
  endif()
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(labels gtest)
  if(folder IN_LIST MUSTER_SLOW_TESTS)
    list(APPEND labels slow)
    add_dependencies(muster_plain_tests ${target})
  else()
    add_dependencies(muster_quick_tests ${target})
  endif()
  if(folder IN_LIST MUSTER_PLAIN_TESTS)
    list(APPEND labels plain)
    add_dependencies(muster_plain_tests ${target})
  endif()
  if(folder IN_LIST MUSTER_THREADED_TESTS)
    list(APPEND labels threads)
    add_dependencies(muster_threaded_tests ${target})
  endif()
  set(environment "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/reports/${target}.xml" ${MUSTER_TEST_ENVIRONMENT})
  if(MUSTER_SANITIZE AND folder STREQUAL "conformance")
    # Its thousands of runs would take minutes; each sixth of them does the same kind of thing.
    list(APPEND environment GTEST_TOTAL_SHARDS=6 GTEST_SHARD_INDEX=0)
  endif()
  if(MUSTER_SANITIZE STREQUAL "thread" AND MUSTER_THREADED_FILTER_${folder})
    list(APPEND environment "GTEST_FILTER=${MUSTER_THREADED_FILTER_${folder}}")
  endif()
  set_tests_properties(
    ${target} PROPERTIES TIMEOUT 900 LABELS "${labels}"
                         ENVIRONMENT "${environment}")
  add_dependencies(muster_tests ${target})
  add_dependencies(${target} muster)
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
# Only this file knows where the source tree is, so the other objects stay equal between checkouts.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/support/paths.cc" PROPERTIES
                            COMPILE_DEFINITIONS "MUSTER_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
                            SKIP_UNITY_BUILD_INCLUSION ON)
muster_compiled_files(files "${PROJECT_SOURCE_DIR}/tests" ${sources})
add_library(muster_test_support STATIC EXCLUDE_FROM_ALL ${files})
muster_link_everything(muster_test_support GTest::gmock GTest::gtest)
target_compile_options(muster_test_support PRIVATE ${MUSTER_TEST_OPTIONS})
target_include_directories(muster_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")

add_custom_target(muster_test_programs)
add_dependencies(muster_test_programs muster-keeper)
file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/programs/*.cc")
foreach(source IN LISTS programs)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(test_program_${name} EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(test_program_${name} PRIVATE muster_flags Threads::Threads)
  target_include_directories(test_program_${name} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  set_target_properties(test_program_${name} PROPERTIES
                        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test_programs")
  add_dependencies(muster_test_programs test_program_${name})
endforeach()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE "${PROJECT_SOURCE_DIR}/tests"
     "${PROJECT_SOURCE_DIR}/tests/*")
list(REMOVE_ITEM folders support programs e2e)
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/${folder}")
    muster_add_test_folder(${folder})
  endif()
endforeach()

# End-to-end scripts use the finished command.
add_dependencies(muster_tests muster)
add_dependencies(muster_plain_tests muster)
file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/e2e/*.sh")
foreach(script IN LISTS scripts)
  execute_process(COMMAND test -x "${script}" RESULT_VARIABLE not_executable)
  if(NOT not_executable)
    get_filename_component(name "${script}" NAME_WE)
    add_test(NAME e2e_${name} COMMAND "${script}" WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(e2e_${name} PROPERTIES TIMEOUT 600 LABELS e2e SKIP_RETURN_CODE 77
                                                ENVIRONMENT "${MUSTER_TEST_ENVIRONMENT}")
  endif()
endforeach()

# scripts/test runs more entries at a time than there are cores, for these mostly wait for processes, sockets and the
# clock. Of all others, which compute, it runs as many as there are cores.
set(MUSTER_WAITING_TESTS agent_test backend_test e2e_access e2e_documented e2e_hardships e2e_interrupt e2e_kills e2e_serve
                         e2e_slurm_back e2e_slurm_constraints e2e_slurm_deaths e2e_slurm_elastic e2e_slurm_fidelity
                         e2e_slurm_import e2e_slurm_lab e2e_slurm_pace e2e_slurm_serve e2e_slurm_shadow e2e_slurm_systems)
get_property(tests DIRECTORY PROPERTY TESTS)
list(REMOVE_ITEM tests ${MUSTER_WAITING_TESTS})
set_tests_properties(${tests} PROPERTIES RESOURCE_GROUPS cores:1)

# The longest begin first, also where no earlier run has told ctest which they are: none is then left to run alone.
set(seconds_of
    e2e_slurm_serve 75 e2e_slurm_back 63 e2e_documented 60 e2e_slurm_fidelity 60 e2e_slurm_constraints 60 property_test 57
    e2e_slurm_systems 47 e2e_slurm_deaths 46 conformance_test 42 e2e_serve 44 e2e_pytorch 38 e2e_slurm_shadow 33
    parity_test 29 e2e_slurm_import 25 e2e_hardships 21 daemon_test 20 e2e_kills 18 e2e_slurm_lab 18 backend_test 15
    e2e_slurm_pace 14 agent_test 13 learn_test 11 e2e_access 11 parity_gavel_test 10)
while(seconds_of)
  list(POP_FRONT seconds_of test seconds)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST ${seconds})
  endif()
endwhile()
