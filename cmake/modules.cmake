# Functions that turn folders of sources into targets.

# The sources of a target as the files to compile: where MUSTER_UNITY is on, files that include up to
# MUSTER_UNIT_FILES sources of one folder each. The headers are then parsed, and templates of the standard library
# compiled, once for all of them, which halves the cost of a build. Small folders of a module share units: for them the
# headers are most of the work. Sources with SKIP_UNITY_BUILD_INCLUSION stay alone.
# CMake's own unity builds name sources by absolute paths, and checkouts could not share a compiler cache.
# Larger units cost less in all, and more when one file has changed: -DMUSTER_UNITY=OFF is for that. Tests, where little
# is shared and names repeat, have smaller units.
set(MUSTER_UNIT_FILES 26)
set(MUSTER_TEST_UNIT_FILES 20)
set(MUSTER_SMALL_FOLDER 6)
function(muster_compiled_files result base)
  if(NOT MUSTER_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(files "")
  set(folders "")
  foreach(source IN LISTS ARGN)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      list(APPEND files "${source}")
    else()
      file(RELATIVE_PATH path "${base}" "${source}")
      get_filename_component(folder "${path}" DIRECTORY)
      list(APPEND folders "${folder}")
      list(APPEND "sources of ${folder}" "#include \"${path}\"\n")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  get_filename_component(kind "${base}" NAME)
  set(most ${MUSTER_UNIT_FILES})
  if(kind STREQUAL "tests")
    set(most ${MUSTER_TEST_UNIT_FILES})
  endif()
  # The first small folder takes the others in.
  set(first_small "")
  set(grouped ${folders})
  foreach(folder IN LISTS folders)
    list(LENGTH "sources of ${folder}" count)
    if(count GREATER MUSTER_SMALL_FOLDER)
      continue()
    elseif(first_small STREQUAL "")
      set(first_small "${folder}")
    else()
      list(APPEND "sources of ${first_small}" ${sources\ of\ ${folder}})
      list(REMOVE_ITEM grouped "${folder}")
    endif()
  endforeach()
  foreach(folder IN LISTS grouped)
    set(sources ${sources\ of\ ${folder}})
    list(LENGTH sources count)
    math(EXPR units "(${count} + ${most} - 1) / ${most}")
    math(EXPR size "(${count} + ${units} - 1) / ${units}")
    foreach(unit RANGE 1 ${units})
      math(EXPR first "(${unit} - 1) * ${size}")
      list(SUBLIST sources ${first} ${size} some)
      list(JOIN some "" text)
      set(file "${PROJECT_BINARY_DIR}/units/${kind}/${folder}/${unit}.cc")
      file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
      list(APPEND files "${file}")
    endforeach()
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# Adds the library muster_<module> from src/<module>/**.cc, linked to every module before it; a module of headers
# only becomes an interface library.
function(muster_add_module module)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${module}/*.cc")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${module}/*.h")
  # A main.cc is a program, not part of the library.
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(NOT sources AND NOT headers)
    return()
  endif()

  set(target muster_${module})
  get_property(earlier GLOBAL PROPERTY MUSTER_MODULE_TARGETS)
  if(sources)
    muster_compiled_files(files "${PROJECT_SOURCE_DIR}/src" ${sources})
    add_library(${target} STATIC ${files} ${headers})
    target_link_libraries(
      ${target}
      PUBLIC muster_flags ${earlier} ${MUSTER_NEEDS_PUBLIC}
      PRIVATE ${MUSTER_NEEDS_PRIVATE} ${MUSTER_NEEDS_${module}})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE muster_flags ${earlier} ${MUSTER_NEEDS_PUBLIC})
  endif()
  # Latest first: a static library must precede those it refers to.
  set_property(GLOBAL PROPERTY MUSTER_MODULE_TARGETS ${target} ${earlier})
endfunction()

# Of an inline function that several archives and the program itself have, the linker keeps the copy that it meets first.
# Named here, before the program's own objects, the archives provide it, and those that are compiled to run fast come
# first. (With ld, which takes nothing from an archive before somebody asks for it, programs are slower: what one of them
# has from muster_cli, or a test, is hardly optimised.)
function(muster_prefer_modules target)
  get_property(modules GLOBAL PROPERTY MUSTER_MODULE_TARGETS)
  list(REVERSE modules)
  foreach(module IN LISTS modules)
    get_target_property(type ${module} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_link_options(${target} PRIVATE "$<TARGET_FILE:${module}>")
    endif()
  endforeach()
endfunction()

# Adds muster_cli (everything in src/cli but main.cc, so that tests can link it) and the command itself.
function(muster_add_command)
  set(MUSTER_NEEDS_cli CLI11::CLI11)
  muster_add_module(cli)
  target_include_directories(muster_cli PRIVATE "${PROJECT_SOURCE_DIR}/include")
  # What runs once per command, or waits for a disk or a socket, is compiled in less time, not to run in less. CLI11's
  # templates are most of muster_cli.
  target_compile_options(muster_cli PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Og>)
  # g++ inlines less the larger a unit is; what runs in every turn must not pay for that.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(module base model perf workload solve policy engine backend artifacts)
      target_compile_options(muster_${module} PRIVATE $<$<CONFIG:Release>:--param=inline-unit-growth=300>)
    endforeach()
  endif()
  target_compile_options(muster_report PRIVATE $<$<CONFIG:Release>:-O2>)
  foreach(module run daemon agent)
    target_compile_options(muster_${module} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
  # In tests these read small files, write pages and wait; to compile them costs more than to run them.
  foreach(module workload backend report run daemon agent)
    target_compile_options(muster_${module} PRIVATE $<$<CONFIG:RelWithDebInfo>:-Og>)
  endforeach()
  get_property(modules GLOBAL PROPERTY MUSTER_MODULE_TARGETS)
  add_executable(muster "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
  muster_prefer_modules(muster)
  target_link_libraries(muster PRIVATE muster_flags ${modules} ${MUSTER_NEEDS_PUBLIC})
  # Policies from outside use the functions of the command itself.
  set_target_properties(muster PROPERTIES ENABLE_EXPORTS ON)
endfunction()

# The program that keeps one launch. A launch outlives the daemon, so it is a program of its own. It is small: two
# archives by name, and not what they may use beyond that.
function(muster_add_keeper)
  add_executable(muster-keeper EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/src/agent/keeper/main.cc")
  add_dependencies(muster-keeper muster_agent muster_base)
  target_link_libraries(muster-keeper PRIVATE muster_flags "$<TARGET_FILE:muster_agent>" "$<TARGET_FILE:muster_base>"
                                              fmt::fmt)
  # `muster serve` starts it, and looks for it beside itself.
  add_dependencies(muster muster-keeper)
endfunction()

# Links a program to all modules, and to the libraries named after it.
function(muster_link_everything target)
  get_property(modules GLOBAL PROPERTY MUSTER_MODULE_TARGETS)
  target_link_libraries(${target} PRIVATE muster_flags ${modules} ${MUSTER_NEEDS_PUBLIC} ${MUSTER_NEEDS_PRIVATE}
                                          ${ARGN})
endfunction()
