#include "support/paths.h"

#include <cstdlib>

namespace muster {

std::filesystem::path source_dir() { return MUSTER_SOURCE_DIR; }

std::filesystem::path shared_dir() {
  const char* named = std::getenv("MUSTER_SHARED");
  if (named != nullptr && *named != '\0') return named;
  return source_dir().parent_path() / "shared";
}

}  // namespace muster
