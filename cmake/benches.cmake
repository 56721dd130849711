# bench/<name>.cc is a program bench_<name>; all of them are the target muster_benches.
add_custom_target(muster_benches)
file(GLOB benches CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cc")
foreach(source IN LISTS benches)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL "${source}")
  muster_link_everything(bench_${name})
  add_dependencies(muster_benches bench_${name})
endforeach()
