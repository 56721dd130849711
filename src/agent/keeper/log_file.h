// The output of one rank in a file that does not grow for ever: when it is full it becomes NAME.1,
// the one before NAME.2, and so on. A full disk loses lines and never holds up the job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

class LogFile {
 public:
  // Appends to what an earlier launch left under this name.
  static Result<LogFile> open(const std::string& path, std::int64_t most_bytes, int files);
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile();

  void write(std::string_view text);
  std::int64_t lost_bytes() const { return lost_; }

 private:
  LogFile(std::string path, std::int64_t most_bytes, int files)
      : path_(std::move(path)), most_bytes_(most_bytes), files_(files) {}
  bool reopen(int flags);
  void rotate();

  std::string path_;
  std::int64_t most_bytes_;
  int files_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace muster
