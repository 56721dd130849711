// The folder in which a daemon keeps everything. One daemon at a time: the lock is the kernel's and
// disappears with the process, however it ends.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace muster {

class StateDirectory {
 public:
  // Makes the folder, readable by its owner alone, and takes the lock. Where another daemon has it
  // the error names its process.
  static Result<StateDirectory> open(const std::filesystem::path& path);

  StateDirectory(StateDirectory&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}
  StateDirectory& operator=(StateDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~StateDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  StateDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace muster
