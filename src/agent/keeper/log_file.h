// The output of one rank in a file that does not grow for ever: when it is full it becomes NAME.1,
// the one before NAME.2, and so on. A full disk loses lines and never holds up the job.
//
// So that readers can count bytes over all files, NAME.place says where the latest one begins. It
// is written before the files are renamed: whoever finds another file than it speaks of under NAME
// knows that this one ends where the next begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

struct LogPlace {
  std::uint64_t inode = 0;  // of the latest file
  std::int64_t begin = 0;   // bytes that were written to those before it

  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};
// Nothing where no file has been full yet.
std::optional<LogPlace> read_log_place(const std::string& path);
// NAME.1 and so on.
std::string older_log(const std::string& path, int older);

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
  bool reopen();
  bool rotate();

  std::string path_;
  std::int64_t most_bytes_;
  int files_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::int64_t begin_ = 0;  // bytes before this file
  std::int64_t lost_ = 0;
};

}  // namespace muster
