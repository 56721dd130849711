# The Python module muster._core, made of the very archives that the command is made of: nothing of the core is
# compiled twice, nor once more for another Python. The Python must have nanobind: the one that MUSTER_PYTHON_EXECUTABLE
# names, or pip's where pip builds a wheel.

set(MUSTER_PYTHON_EXECUTABLE "" CACHE FILEPATH "The Python to build the module for")
if(MUSTER_PYTHON_EXECUTABLE)
  # A wheel for another Python may have been built in this folder before: what pip said of that one is not for this one.
  foreach(name Python_EXECUTABLE Python_ROOT_DIR Python_INCLUDE_DIR SKBUILD_SOABI SKBUILD_SABI_VERSION)
    unset(${name} CACHE)
  endforeach()
  set(Python_EXECUTABLE "${MUSTER_PYTHON_EXECUTABLE}")
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module REQUIRED)
# From 3.12 on one module serves all versions of Python. nanobind asks for a target that CMake 3.25 does not know; on
# Linux it stands for nothing more than the headers.
if(Python_VERSION VERSION_GREATER_EQUAL 3.12 AND NOT TARGET Python::SABIModule)
  add_library(Python::SABIModule INTERFACE IMPORTED)
endif()
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE without_nanobind)
if(without_nanobind)
  message(FATAL_ERROR "The Python module needs nanobind: run `scripts/python-env build`, or `${Python_EXECUTABLE} -m pip "
                      "install nanobind`. The command itself does not: `cmake --preset release`.")
endif()
unset(nanobind_DIR CACHE)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/core/*.cc")
file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/core/*.h")
muster_compiled_files(files "${PROJECT_SOURCE_DIR}/python" ${sources})
nanobind_add_module(_core STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${files} ${headers})
muster_link_everything(_core)
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}/python")
# Nobody else's copy of a library that we link may be taken for ours, nor ours for theirs.
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)

# The package as it is imported from a build: the sources, and the module between them.
set(MUSTER_PYTHON_FOLDER "${PROJECT_BINARY_DIR}/python")
file(MAKE_DIRECTORY "${MUSTER_PYTHON_FOLDER}/muster")
file(GLOB pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/python/muster"
     "${PROJECT_SOURCE_DIR}/python/muster/*.py*" "${PROJECT_SOURCE_DIR}/python/muster/py.typed")
foreach(page IN LISTS pages)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/muster/${page}" "${MUSTER_PYTHON_FOLDER}/muster/${page}" SYMBOLIC)
endforeach()
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${MUSTER_PYTHON_FOLDER}/muster")

# What type checkers see of it.
nanobind_add_stub(
  muster_stub
  MODULE _core
  OUTPUT "${MUSTER_PYTHON_FOLDER}/muster/_core.pyi"
  PYTHON_PATH "${MUSTER_PYTHON_FOLDER}/muster"
  PATTERN_FILE "${PROJECT_SOURCE_DIR}/python/core/stub_patterns.txt"
  DEPENDS _core)

# What a wheel holds beside the sources.
install(TARGETS _core LIBRARY DESTINATION muster COMPONENT python)
# `muster serve` of the package starts it for every launch.
install(TARGETS muster-keeper RUNTIME DESTINATION muster/bin COMPONENT python)
install(FILES "${MUSTER_PYTHON_FOLDER}/muster/_core.pyi" DESTINATION muster COMPONENT python)
install(DIRECTORY presets experiments data DESTINATION muster/share COMPONENT python OPTIONAL)
install(FILES LICENSE THIRD_PARTY.md DESTINATION muster/share COMPONENT python)
