// A folder of a test's own that goes away with the object. Use it for every file a test writes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace muster {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Writes `content` to the file `name` in the folder, making parent folders, and returns its path.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const;

  // The content of the file `name`; empty, with a failure of the running test, when it cannot be
  // read.
  std::string read(const std::filesystem::path& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace muster
