#include "workload/byte_output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <zlib.h>

#include <fmt/format.h>
#include <zstd.h>

namespace muster {
namespace {

constexpr std::size_t kWriteChunk = std::size_t{1} << 17;

class FileOutput final : public ByteOutput {
 public:
  // An empty `path` is a descriptor that is written to directly.
  FileOutput(int descriptor, std::string path, std::string partial)
      : descriptor_(descriptor), path_(std::move(path)), partial_(std::move(partial)) {}
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;
  ~FileOutput() override {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
    if (!partial_.empty()) unlink(partial_.c_str());
  }

  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed("writing");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return Done{};
  }

  Status finish() override {
    if (path_.empty()) return Done{};
    // Some file systems tell only now that the disk is full.
    if (close(std::exchange(descriptor_, -1)) != 0) return failed("writing");
    if (!partial_.empty()) {
      if (std::rename(partial_.c_str(), path_.c_str()) != 0) return failed("naming");
      partial_.clear();
    }
    return Done{};
  }

 private:
  Error failed(std::string_view what) const {
    const int code = errno;
    return Error{fmt::format("{} {} failed: {}", what,
                             path_.empty() ? "standard output" : fmt::format("'{}'", path_),
                             std::strerror(code))};  // NOLINT(concurrency-mt-unsafe)
  }

  int descriptor_;
  std::string path_;
  std::string partial_;
};

class GzipOutput final : public ByteOutput {
 public:
  explicit GzipOutput(std::unique_ptr<ByteOutput> to) : to_(std::move(to)), packed_(kWriteChunk) {
    constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 asks for the gzip wrapper
    constexpr int kMemoryLevel = 8;
    ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;
  ~GzipOutput() override {
    if (ready_) deflateEnd(&stream_);
  }

  Status write(std::string_view bytes) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      if (const Status done = pack(part, Z_NO_FLUSH); !done) return done;
      bytes.remove_prefix(part.size());
    }
    return Done{};
  }
  Status finish() override {
    if (const Status done = pack({}, Z_FINISH); !done) return done;
    return to_->finish();
  }

 private:
  Status pack(std::string_view bytes, int flush) {
    if (!ready_) return Error{"not enough memory to pack gzip data"};
    // zlib's interface predates const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, flush);
      const Status done = to_->write({packed_.data(), packed_.size() - stream_.avail_out});
      if (!done) return done;
    } while (stream_.avail_out == 0);
    return Done{};
  }

  std::unique_ptr<ByteOutput> to_;
  std::vector<char> packed_;
  z_stream stream_{};
  bool ready_ = false;
};

class ZstdOutput final : public ByteOutput {
 public:
  explicit ZstdOutput(std::unique_ptr<ByteOutput> to)
      : to_(std::move(to)), packed_(kWriteChunk), context_(ZSTD_createCCtx()) {
    // Without it a damaged file could read as another text.
    if (context_ != nullptr) ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ZstdOutput(const ZstdOutput&) = delete;
  ZstdOutput& operator=(const ZstdOutput&) = delete;
  ~ZstdOutput() override { ZSTD_freeCCtx(context_); }

  Status write(std::string_view bytes) override { return pack(bytes, ZSTD_e_continue); }
  Status finish() override {
    if (const Status done = pack({}, ZSTD_e_end); !done) return done;
    return to_->finish();
  }

 private:
  Status pack(std::string_view bytes, ZSTD_EndDirective directive) {
    if (context_ == nullptr) return Error{"not enough memory to pack zstd data"};
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      if (ZSTD_isError(left) != 0) {
        return Error{fmt::format("packing zstd data failed ({})", ZSTD_getErrorName(left))};
      }
      if (const Status done = to_->write({packed_.data(), out.pos}); !done) return done;
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) return Done{};
    }
  }

  std::unique_ptr<ByteOutput> to_;
  std::vector<char> packed_;
  ZSTD_CCtx* context_;
};

// Devices and pipes are written to directly; only plain files are replaced as a whole.
bool replaceable(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

}  // namespace

Result<std::unique_ptr<ByteOutput>> create_bytes(const std::string& path) {
  std::unique_ptr<ByteOutput> output;
  if (path == "-") {
    output = std::make_unique<FileOutput>(STDOUT_FILENO, "", "");
  } else {
    const std::string partial = replaceable(path) ? path + ".partial" : "";
    const int descriptor = open((partial.empty() ? path : partial).c_str(),
                                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return Error{fmt::format("cannot write '{}': {}", path,
                               std::strerror(errno))};  // NOLINT(concurrency-mt-unsafe)
    }
    output = std::make_unique<FileOutput>(descriptor, path, partial);
  }
  if (path.ends_with(".gz")) output = std::make_unique<GzipOutput>(std::move(output));
  if (path.ends_with(".zst")) output = std::make_unique<ZstdOutput>(std::move(output));
  return output;
}

}  // namespace muster
