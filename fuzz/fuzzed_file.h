// Bytes as a file of a given name in a folder of this process: for readers that want a path.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace muster {

inline const std::filesystem::path& fuzz_folder() {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      // In memory where that is possible: a disk would be waited for at every input.
      const std::filesystem::path memory = "/dev/shm";
      const bool there = access(memory.c_str(), W_OK) == 0;
      path = (there ? memory : std::filesystem::temp_directory_path()) /
             ("muster_fuzz_" + std::to_string(getpid()));
      std::filesystem::create_directories(path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder kFolder;
  return kFolder.path;
}

inline std::string fuzzed_file(const std::string& name, std::string_view content) {
  const std::filesystem::path path = fuzz_folder() / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return path.string();
}

}  // namespace muster
