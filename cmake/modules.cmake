# Functions that turn folders under src/ into targets.

# With MUSTER_PRECOMPILE the headers that most files include are parsed once per build instead of once per
# file. The sanitizer builds do so, as make test builds them from nothing; the others show that every file
# includes what it uses.
set(MUSTER_PRECOMPILED <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
                       <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>
                       <fmt/format.h> <fmt/ranges.h>)
if(MUSTER_PRECOMPILE)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled.cc" CONTENT "")
  add_library(muster_precompiled STATIC "${PROJECT_BINARY_DIR}/precompiled.cc")
  target_link_libraries(muster_precompiled PRIVATE muster_flags ${MUSTER_NEEDS_PUBLIC})
  target_precompile_headers(muster_precompiled PRIVATE ${MUSTER_PRECOMPILED})
endif()

# Adds the library muster_<room> from src/<room>/**.cc, linked to every room before it; a room of headers
# only becomes an interface library.
function(muster_add_room room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.cc")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.h")
  if(room STREQUAL "cli")
    list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
  endif()
  if(NOT sources AND NOT headers)
    return()
  endif()

  set(target muster_${room})
  get_property(earlier GLOBAL PROPERTY MUSTER_ROOM_TARGETS)
  if(sources)
    add_library(${target} STATIC ${sources} ${headers})
    target_link_libraries(
      ${target}
      PUBLIC muster_flags ${earlier} ${MUSTER_NEEDS_PUBLIC}
      PRIVATE ${MUSTER_NEEDS_PRIVATE} ${MUSTER_NEEDS_${room}})
    if(MUSTER_PRECOMPILE)
      target_precompile_headers(${target} REUSE_FROM muster_precompiled)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE muster_flags ${earlier} ${MUSTER_NEEDS_PUBLIC})
  endif()
  # Latest first: a static library must precede those it refers to.
  set_property(GLOBAL PROPERTY MUSTER_ROOM_TARGETS ${target} ${earlier})
endfunction()

# Adds muster_cli (everything in src/cli but main.cc, so that tests can link it) and the command itself.
function(muster_add_command)
  set(MUSTER_NEEDS_cli CLI11::CLI11 CURL::libcurl)
  muster_add_room(cli)
  if(EXISTS "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
    get_property(rooms GLOBAL PROPERTY MUSTER_ROOM_TARGETS)
    add_executable(muster "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
    target_link_libraries(muster PRIVATE muster_flags ${rooms} ${MUSTER_NEEDS_PUBLIC})
  endif()
endfunction()
