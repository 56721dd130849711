#include "base/out_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

std::string_view remedy(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space or choose another folder";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f) or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a folder that you may write to";
    case ENOTDIR:
      return "; a part of the path is a file, not a folder";
    default:
      return "";
  }
}

// Whether it is the file into which this program's own output goes, as /dev/stdout may be: it is
// added to, or what was printed there would be lost.
bool is_own_stream(const struct stat& about) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(stream, &own) == 0 && own.st_dev == about.st_dev && own.st_ino == about.st_ino) {
      return true;
    }
  }
  return false;
}

}  // namespace

Error file_error(std::string_view what, const std::string& path, int code) {
  return Error{fmt::format("cannot {} {}: {}{}", what, path, std::strerror(code), remedy(code))};
}

OutFile::OutFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

void OutFile::swap(OutFile& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(partial_, other.partial_);
  std::swap(target_, other.target_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(buffer_, other.buffer_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  std::swap(error_, other.error_);
  std::swap(written_, other.written_);
}

OutFile::OutFile(OutFile&& other) noexcept { swap(other); }

OutFile& OutFile::operator=(OutFile&& other) noexcept {
  swap(other);
  return *this;
}

OutFile::~OutFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

Result<OutFile> OutFile::create(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return file_error("create", path, errno);
  return OutFile(path, descriptor);
}

Result<OutFile> OutFile::replace(const std::string& path) {
  struct stat about {};
  const bool exists = ::stat(path.c_str(), &about) == 0;
  if (exists && !S_ISDIR(about.st_mode) && (!S_ISREG(about.st_mode) || is_own_stream(about))) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (descriptor < 0) return file_error("write", path, errno);
    return OutFile(path, descriptor);
  }
  auto target = replaceable_path(path);
  if (!target) return target.error();
  std::string partial = fmt::format("{}.partial-{}", *target, ::getpid());
  ::unlink(partial.c_str());
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return file_error("write", path, errno);
  OutFile file(path, descriptor);
  file.partial_ = std::move(partial);
  file.target_ = std::move(*target);
  // A file that only its owner may read stays so.
  if (exists && ::fchmod(descriptor, about.st_mode & 07777) != 0) file.fail(errno);
  return file;
}

Result<OutFile> OutFile::standard_output() {
  const int descriptor = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (descriptor < 0) return file_error("write", "standard output", errno);
  return OutFile("standard output", descriptor);
}

void OutFile::fail(int code) {
  if (failed()) return;
  const Error error = file_error("write", path_, code);
  error_ = fmt::format("{} ({} bytes were written)", error.message, written_);
}

void OutFile::flush() {
  std::string_view rest(buffer_.get(), size_);
  while (!rest.empty() && !failed()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
      written_ += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  size_ = 0;
}

void OutFile::make_room(std::size_t bytes) {
  flush();
  if (bytes <= capacity_) return;
  capacity_ = std::max(bytes, kCapacity);
  buffer_ = std::make_unique<char[]>(capacity_);
}

void OutFile::write(std::string_view bytes) {
  used(std::copy(bytes.begin(), bytes.end(), room(bytes.size())));
}

Status OutFile::close() {
  flush();
  // Some file systems report a full disk only here.
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (!failed() && !partial_.empty()) {
    if (std::rename(partial_.c_str(), target_.c_str()) != 0) fail(errno);
    if (!failed()) partial_.clear();
  }
  if (failed()) return Error{error_};
  return Done{};
}

Status write_file(const std::string& path, std::string_view text) {
  auto file = OutFile::create(path);
  if (!file) return file.error();
  file->write(text);
  return file->close();
}

Status replace_file(const std::string& path, const std::function<Status(OutFile&)>& fill) {
  auto file = OutFile::replace(path);
  if (!file) return file.error();
  return fill(*file);
}

Status replace_file(const std::string& path, std::string_view text) {
  return replace_file(path, [&](OutFile& file) {
    file.write(text);
    return file.close();
  });
}

Result<std::string> replaceable_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path target = path;
  constexpr int kMostLinks = 40;  // as many as the system follows
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, code)); ++i) {
    if (i == kMostLinks) return file_error("write", path, ELOOP);
    target = target.parent_path() / fs::read_symlink(target, code);
    if (code) return file_error("write", path, code.value());
  }
  const fs::file_status status = fs::symlink_status(target, code);
  if (fs::is_directory(status)) {
    return Error{fmt::format("cannot write {}: it is a folder; name a file", path)};
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Error{fmt::format("cannot write {}: it is not a plain file; name another", path)};
  }
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) {
    return file_error("write", path, errno);
  }
  return target.string();
}

Result<std::string> read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error("read", path, errno);
  std::string text;
  char block[64 * 1024];
  while (true) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count > 0) {
      text.append(block, static_cast<std::size_t>(count));
    } else if (count == 0) {
      ::close(descriptor);
      return text;
    } else if (errno != EINTR) {
      const int code = errno;
      ::close(descriptor);
      return file_error("read", path, code);
    }
  }
}

}  // namespace muster
