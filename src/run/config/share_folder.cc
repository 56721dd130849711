#include "run/config/share_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> roots() {
  std::vector<fs::path> found;
  if (const char* home = std::getenv("MUSTER_HOME"); home != nullptr && *home != '\0') {
    return {fs::path(home)};
  }
  std::error_code ignored;
  const fs::path command = fs::read_symlink("/proc/self/exe", ignored);
  found.push_back(command.parent_path() / ".." / "share" / "muster");
  found.push_back(command.parent_path() / ".." / "..");
  return found;
}

std::vector<std::string> list(std::string_view kind, bool folders) {
  std::vector<std::string> names;
  for (const fs::path& root : roots()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root / kind, ignored)) {
      if (folders && entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
      if (!folders && entry.path().extension() == ".toml") {
        names.push_back(entry.path().stem().string());
      }
    }
    if (!names.empty()) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> shared_files(std::string_view kind) { return list(kind, false); }
std::vector<std::string> shared_folders(std::string_view kind) { return list(kind, true); }

Result<std::string> find_shared_file(std::string_view kind, std::string_view noun,
                                     std::string_view name) {
  for (const fs::path& root : roots()) {
    const fs::path path = root / kind / (std::string(name) + ".toml");
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path.lexically_normal().string();
  }
  const std::vector<std::string> names = shared_files(kind);
  if (names.empty()) {
    return Error{fmt::format(
        "the folder {} of Muster is not where it is expected ({}): set MUSTER_HOME to the folder "
        "that holds it",
        kind, roots().front().lexically_normal().string())};
  }
  return Error{unknown_name(noun, name, std::vector<std::string_view>(names.begin(), names.end()))};
}

}  // namespace muster
