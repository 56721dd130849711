#include "workload/byte_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include <fmt/format.h>
#include <zstd.h>

namespace muster {
namespace {

constexpr std::size_t kReadChunk = std::size_t{1} << 17;

std::string system_message(int code) {
  return std::strerror(code);
}  // NOLINT(concurrency-mt-unsafe)

class FileInput final : public ByteInput {
 public:
  explicit FileInput(int descriptor) : descriptor_(descriptor) {}
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;
  ~FileInput() override {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, to, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return Error{fmt::format("reading failed: {}", system_message(errno))};
    }
  }
  std::size_t size_hint() const override {
    struct stat about {};
    return fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode)
               ? static_cast<std::size_t>(about.st_size)
               : 0;
  }

 private:
  int descriptor_;
};

class TextInput final : public ByteInput {
 public:
  explicit TextInput(std::string text) : text_(std::move(text)) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - next_);
    std::memcpy(to, text_.data() + next_, count);
    next_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t next_ = 0;
};

// An input of which the first bytes were already taken to look at them.
class PrefixedInput final : public ByteInput {
 public:
  PrefixedInput(std::string prefix, std::unique_ptr<ByteInput> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (next_ == prefix_.size()) return rest_->read(to, size);
    const std::size_t count = std::min(size, prefix_.size() - next_);
    std::memcpy(to, prefix_.data() + next_, count);
    next_ += count;
    return count;
  }
  std::size_t size_hint() const override { return rest_->size_hint(); }

 private:
  std::string prefix_;
  std::size_t next_ = 0;
  std::unique_ptr<ByteInput> rest_;
};

// The packed bytes in front of a decoder.
class PackedChunk {
 public:
  explicit PackedChunk(std::unique_ptr<ByteInput> input)
      : input_(std::move(input)), bytes_(kReadChunk) {}

  // Makes bytes available unless the input is at its end.
  Status fill() {
    if (begin_ < end_ || at_end_) return Done{};
    const auto count = input_->read(bytes_.data(), bytes_.size());
    if (!count) return count.error();
    begin_ = 0;
    end_ = *count;
    at_end_ = end_ == 0;
    return Done{};
  }
  bool empty() const { return begin_ == end_; }
  char* data() { return bytes_.data() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  void consume(std::size_t count) { begin_ += count; }

 private:
  std::unique_ptr<ByteInput> input_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
};

Error cut_short(std::string_view kind) {
  return Error{fmt::format("the {} data ends in the middle: the file is cut short", kind)};
}

class GzipInput final : public ByteInput {
 public:
  explicit GzipInput(std::unique_ptr<ByteInput> input) : packed_(std::move(input)) {
    constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 asks for the gzip wrapper
    ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  GzipInput(const GzipInput&) = delete;
  GzipInput& operator=(const GzipInput&) = delete;
  ~GzipInput() override {
    if (ready_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (!ready_) return Error{"not enough memory to unpack gzip data"};
    while (true) {
      if (const Status filled = packed_.fill(); !filled) return filled.error();
      if (packed_.empty()) {
        if (inside_member_) return cut_short("gzip");
        return std::size_t{0};
      }
      if (!inside_member_) {
        // A gzip file may hold several members; what follows the last one is padding.
        if (*packed_.data() != '\x1f') return std::size_t{0};
        inflateReset(&stream_);
        inside_member_ = true;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_in = static_cast<uInt>(packed_.size());
      stream_.next_out = reinterpret_cast<Bytef*>(to);
      stream_.avail_out = static_cast<uInt>(std::min(size, kReadChunk));
      const uInt room = stream_.avail_out;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      packed_.consume(packed_.size() - stream_.avail_in);
      if (code == Z_STREAM_END) {
        inside_member_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Error{fmt::format("the gzip data is damaged ({})",
                                 stream_.msg == nullptr ? "unknown reason" : stream_.msg)};
      }
      if (const std::size_t count = room - stream_.avail_out; count > 0) return count;
    }
  }

 private:
  PackedChunk packed_;
  z_stream stream_{};
  bool ready_ = false;
  bool inside_member_ = false;
};

class ZstdInput final : public ByteInput {
 public:
  explicit ZstdInput(std::unique_ptr<ByteInput> input)
      : packed_(std::move(input)), context_(ZSTD_createDCtx()) {}
  ZstdInput(const ZstdInput&) = delete;
  ZstdInput& operator=(const ZstdInput&) = delete;
  ~ZstdInput() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (context_ == nullptr) return Error{"not enough memory to unpack zstd data"};
    while (true) {
      if (const Status filled = packed_.fill(); !filled) return filled.error();
      if (packed_.empty() && !inside_frame_) return std::size_t{0};
      const bool starved = packed_.empty();
      ZSTD_inBuffer in{packed_.data(), packed_.size(), 0};
      ZSTD_outBuffer out{to, size, 0};
      const std::size_t hint = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(hint) != 0) {
        return Error{fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(hint))};
      }
      packed_.consume(in.pos);
      inside_frame_ = hint != 0;
      if (out.pos > 0) return out.pos;
      if (starved && inside_frame_) return cut_short("zstd");
    }
  }

 private:
  PackedChunk packed_;
  ZSTD_DCtx* context_;
  bool inside_frame_ = false;
};

// One file of a tar archive: the bytes after its header.
class TarMember final : public ByteInput {
 public:
  TarMember(std::unique_ptr<ByteInput> archive, std::size_t size)
      : archive_(std::move(archive)), size_(size), left_(size) {}
  Result<std::size_t> read(char* to, std::size_t size) override {
    if (left_ == 0) return std::size_t{0};
    const auto count = archive_->read(to, std::min(size, left_));
    if (!count) return count;
    if (*count == 0) return Error{"the archive ends within this file"};
    left_ -= *count;
    return count;
  }
  std::size_t size_hint() const override { return size_; }

 private:
  std::unique_ptr<ByteInput> archive_;
  std::size_t size_;
  std::size_t left_;
};

// Fills all of `to`; false at the end of the input.
Result<bool> read_all(ByteInput& input, char* to, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const auto count = input.read(to + filled, size - filled);
    if (!count) return count.error();
    if (*count == 0) return false;
    filled += *count;
  }
  return true;
}

std::size_t octal(std::string_view digits) {
  std::size_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') break;
    value = value * 8 + static_cast<std::size_t>(digit - '0');
  }
  return value;
}

Result<std::unique_ptr<ByteInput>> open_member(const std::string& archive,
                                               const std::string& member) {
  constexpr std::size_t kBlock = 512;
  auto input = open_bytes(archive);
  if (!input) return input;
  std::vector<std::string> names;
  std::string block(kBlock, '\0');
  while (true) {
    const auto whole = read_all(**input, block.data(), kBlock);
    if (!whole) return Error{fmt::format("{}: {}", archive, whole.error().message)};
    if (!*whole || block[0] == '\0') break;
    std::string name = block.substr(0, std::min<std::size_t>(block.find('\0'), 100));
    if (block.compare(257, 5, "ustar") != 0) {
      return Error{fmt::format("'{}' is neither a folder nor a tar archive", archive)};
    }
    if (name.starts_with("./")) name.erase(0, 2);
    const std::size_t size = octal(std::string_view(block).substr(124, 12));
    if (name == member) {
      return std::unique_ptr<ByteInput>(std::make_unique<TarMember>(std::move(*input), size));
    }
    names.push_back(name);
    for (std::size_t passed = 0; passed < size; passed += kBlock) {
      const auto more = read_all(**input, block.data(), kBlock);
      if (!more) return Error{fmt::format("{}: {}", archive, more.error().message)};
      if (!*more) break;
    }
  }
  return Error{
      fmt::format("'{}' has no file '{}'; it has {}", archive, member, fmt::join(names, ", "))};
}

// The part of the path that is a file where a folder should be; 0 if there is none.
std::size_t archive_length(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    struct stat about {};
    if (stat(path.substr(0, slash).c_str(), &about) == 0 && S_ISREG(about.st_mode)) return slash;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<ByteInput>> unpacked(std::unique_ptr<ByteInput> input) {
  constexpr std::string_view kGzip("\x1f\x8b", 2);
  constexpr std::string_view kZstd("\x28\xb5\x2f\xfd", 4);
  std::string head(kZstd.size(), '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    const auto count = input->read(head.data() + filled, head.size() - filled);
    if (!count) return count.error();
    if (*count == 0) break;
    filled += *count;
  }
  head.resize(filled);
  const bool gzip = head.starts_with(kGzip);
  const bool zstd = head.starts_with(kZstd);
  std::unique_ptr<ByteInput> whole =
      std::make_unique<PrefixedInput>(std::move(head), std::move(input));
  if (gzip) return std::unique_ptr<ByteInput>(std::make_unique<GzipInput>(std::move(whole)));
  if (zstd) return std::unique_ptr<ByteInput>(std::make_unique<ZstdInput>(std::move(whole)));
  return whole;
}

Result<std::unique_ptr<ByteInput>> open_bytes(const std::string& path) {
  if (path == "-") return unpacked(std::make_unique<FileInput>(STDIN_FILENO));
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int code = errno;
    const std::size_t archive = code == ENOTDIR ? archive_length(path) : 0;
    if (archive > 0) return open_member(path.substr(0, archive), path.substr(archive + 1));
    errno = code;
    return Error{fmt::format("cannot open '{}': {}", path, system_message(errno))};
  }
  auto file = std::make_unique<FileInput>(descriptor);
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    return Error{fmt::format("'{}' is a folder, not a file", path)};
  }
  auto input = unpacked(std::move(file));
  if (!input) return Error{fmt::format("{}: {}", path, input.error().message)};
  return input;
}

std::unique_ptr<ByteInput> bytes_of(std::string text) {
  return std::make_unique<TextInput>(std::move(text));
}

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
  auto input = open_bytes(path);
  if (!input) return input.error();
  std::string text;
  while (true) {
    constexpr std::size_t kStep = std::size_t{1} << 16;
    const std::size_t old_size = text.size();
    text.resize(old_size + kStep);
    const auto count = (*input)->read(text.data() + old_size, kStep);
    if (!count) return Error{fmt::format("{}: {}", path, count.error().message)};
    text.resize(old_size + *count);
    if (*count == 0) return text;
    if (text.size() > limit) {
      return Error{fmt::format("'{}' is larger than {} MiB; that is too large for such a file",
                               path, limit >> 20)};
    }
  }
}

}  // namespace muster
