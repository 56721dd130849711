#include "report/out_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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

}  // namespace

Error file_error(std::string_view what, const std::string& path, int code) {
  return Error{fmt::format("cannot {} {}: {}{}", what, path, std::strerror(code), remedy(code))};
}

OutFile::OutFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

OutFile::OutFile(OutFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      capacity_(std::exchange(other.capacity_, 0)),
      size_(std::exchange(other.size_, 0)),
      error_(std::move(other.error_)),
      written_(other.written_) {}

OutFile& OutFile::operator=(OutFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(buffer_, other.buffer_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  std::swap(error_, other.error_);
  std::swap(written_, other.written_);
  return *this;
}

OutFile::~OutFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<OutFile> OutFile::create(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return file_error("create", path, errno);
  return OutFile(path, descriptor);
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
  if (failed()) return Error{error_};
  return Done{};
}

Status write_file(const std::string& path, std::string_view text) {
  auto file = OutFile::create(path);
  if (!file) return file.error();
  file->write(text);
  return file->close();
}

Status write_aside(const std::string& path, const std::function<Status(OutFile&)>& fill) {
  const std::string partial = fmt::format("{}.partial-{}", path, ::getpid());
  ::unlink(partial.c_str());
  auto file = OutFile::create(partial);
  if (!file) return file.error();
  Status written = fill(*file);
  if (written && std::rename(partial.c_str(), path.c_str()) != 0) {
    written = file_error("write", path, errno);
  }
  if (!written) ::unlink(partial.c_str());
  return written;
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
