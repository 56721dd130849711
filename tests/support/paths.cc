#include "support/paths.h"

#include <cstdlib>

namespace muster {

std::filesystem::path source_dir() { return MUSTER_SOURCE_DIR; }

std::filesystem::path shared_dir() {
  const char* named = std::getenv("MUSTER_SHARED");
  if (named != nullptr && *named != '\0') return named;
  return source_dir().parent_path() / "shared";
}

std::filesystem::path program_path(std::string_view name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "test_programs" / name;
}

}  // namespace muster
