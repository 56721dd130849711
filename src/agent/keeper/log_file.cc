#include "agent/keeper/log_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace muster {

Result<LogFile> LogFile::open(const std::string& path, std::int64_t most_bytes, int files) {
  LogFile log(path, most_bytes, files);
  if (!log.reopen(O_APPEND)) {
    return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  }
  return log;
}

LogFile::LogFile(LogFile&& other) noexcept
    : path_(std::move(other.path_)),
      most_bytes_(other.most_bytes_),
      files_(other.files_),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      lost_(other.lost_) {}

LogFile::~LogFile() {
  if (file_ >= 0) close(file_);
}

bool LogFile::reopen(int flags) {
  if (file_ >= 0) close(file_);
  file_ =
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  struct stat about {};
  size_ = file_ >= 0 && fstat(file_, &about) == 0 ? about.st_size : 0;
  return file_ >= 0;
}

void LogFile::rotate() {
  for (int older = files_ - 2; older >= 1; --older) {
    static_cast<void>(std::rename(fmt::format("{}.{}", path_, older).c_str(),
                                  fmt::format("{}.{}", path_, older + 1).c_str()));
  }
  if (files_ > 1) static_cast<void>(std::rename(path_.c_str(), fmt::format("{}.1", path_).c_str()));
  reopen(files_ > 1 ? 0 : O_TRUNC);
}

void LogFile::write(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = text.size();
    if (const std::int64_t room = most_bytes_ - size_; static_cast<std::int64_t>(length) > room) {
      // Lines stay whole, unless one alone is longer than a file.
      const std::size_t line =
          text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(0, room))).rfind('\n');
      if (line == std::string_view::npos && size_ > 0) {
        rotate();
        if (size_ > 0) size_ = 0;  // it could not be moved away: rather a long file than none
        continue;
      }
      length = line == std::string_view::npos ? static_cast<std::size_t>(room) : line + 1;
    }
    const ssize_t count = ::write(file_, text.data(), length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      lost_ += static_cast<std::int64_t>(text.size());
      return;
    }
    size_ += count;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace muster
