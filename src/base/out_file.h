// A file being written that reports every failure: the first error is kept, later writes do
// nothing, and close() returns it. Check failed() from time to time in long runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

class OutFile {
 public:
  // `path` must not exist yet: a file in a folder that is still being put together.
  static Result<OutFile> create(const std::string& path);
  // Any path that a user named. A plain file is replaced whole, by close(); until then, and when
  // something fails, the old one stays. A link is followed. Devices and pipes are written to.
  static Result<OutFile> replace(const std::string& path);
  static Result<OutFile> standard_output();

  OutFile(OutFile&& other) noexcept;
  OutFile& operator=(OutFile&& other) noexcept;
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;
  ~OutFile();

  // A place with room for `bytes` more; write there, then tell used() where the text ends.
  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) make_room(bytes);
    return buffer_.get() + size_;
  }
  void used(const char* end) { size_ = static_cast<std::size_t>(end - buffer_.get()); }
  void write(std::string_view bytes);
  void flush();

  bool failed() const { return !error_.empty(); }
  Status close();

 private:
  static constexpr std::size_t kCapacity = std::size_t{256} << 10;

  OutFile(std::string path, int descriptor);
  void swap(OutFile& other) noexcept;
  void make_room(std::size_t bytes);
  void fail(int code);

  std::string path_;     // as the user knows it
  std::string partial_;  // what close() moves to target_; empty for files written in place
  std::string target_;
  int descriptor_ = -1;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;  // bytes in the buffer
  std::string error_;
  std::uint64_t written_ = 0;
};

// Why the system refused, with the remedy: "cannot write results/a/jobs.csv: No space left on
// device ...".
Error file_error(std::string_view what, const std::string& path, int code);

// The whole of a small file at once; OutFile::create.
Status write_file(const std::string& path, std::string_view text);

// The same over OutFile::replace. `fill` writes and closes the file.
Status replace_file(const std::string& path, std::string_view text);
Status replace_file(const std::string& path, const std::function<Status(OutFile&)>& fill);

// Where a new file may be moved so that it takes the place of `path`: links are followed, and what
// is there must be a plain file that may be written, or nothing.
Result<std::string> replaceable_path(const std::string& path);

// The whole of a file in memory.
Result<std::string> read_file(const std::string& path);

}  // namespace muster
