#include "agent/keeper/log_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace muster {

std::string older_log(const std::string& path, int older) {
  return fmt::format("{}.{}", path, older);
}

std::optional<LogPlace> read_log_place(const std::string& path) {
  std::ifstream file(path + ".place");
  LogPlace place;
  if (!(file >> place.inode >> place.begin)) return std::nullopt;
  return place;
}

Result<LogFile> LogFile::open(const std::string& path, std::int64_t most_bytes, int files) {
  LogFile log(path, most_bytes, files);
  if (const auto place = read_log_place(path)) log.begin_ = place->begin;
  if (!log.reopen()) {
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
      begin_(other.begin_),
      lost_(other.lost_) {}

LogFile::~LogFile() {
  if (file_ >= 0) close(file_);
}

bool LogFile::reopen() {
  if (file_ >= 0) close(file_);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat about {};
  size_ = file_ >= 0 && fstat(file_, &about) == 0 ? about.st_size : 0;
  return file_ >= 0;
}

namespace {

// All of it, or nothing.
bool write_small(const std::string& path, std::string_view text) {
  const std::string made = path + ".new";
  const int file =
      ::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return whole && std::rename(made.c_str(), path.c_str()) == 0;
}

}  // namespace

// The next file is made first, under another name: where it begins is known before it is there.
bool LogFile::rotate() {
  const std::string next = path_ + ".new";
  const int made =
      ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat now {};
  struct stat then {};
  const bool there = made >= 0 && fstat(made, &then) == 0 && fstat(file_, &now) == 0;
  if (!there ||
      !write_small(path_ + ".place", fmt::format("{} {}\n", then.st_ino, begin_ + now.st_size))) {
    if (made >= 0) close(made);
    return false;
  }
  for (int older = files_ - 2; older >= 1; --older) {
    static_cast<void>(
        std::rename(older_log(path_, older).c_str(), older_log(path_, older + 1).c_str()));
  }
  if (files_ > 1) static_cast<void>(std::rename(path_.c_str(), older_log(path_, 1).c_str()));
  static_cast<void>(std::rename(next.c_str(), path_.c_str()));
  close(file_);
  file_ = made;
  begin_ += now.st_size;
  size_ = 0;
  return true;
}

void LogFile::write(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = text.size();
    if (const std::int64_t room = most_bytes_ - size_; static_cast<std::int64_t>(length) > room) {
      // Lines stay whole, unless one alone is longer than a file.
      const std::size_t line =
          text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(0, room))).rfind('\n');
      if (line == std::string_view::npos && size_ > 0) {
        if (!rotate()) size_ = 0;  // it could not be moved away: rather a long file than none
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
