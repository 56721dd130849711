#include "workload/byte_output.h"

#include <algorithm>
#include <utility>
#include <vector>
#include <zlib.h>

#include <fmt/format.h>
#include <zstd.h>

#include "base/out_file.h"

namespace muster {
namespace {

constexpr std::size_t kWriteChunk = std::size_t{1} << 17;

class FileOutput final : public ByteOutput {
 public:
  explicit FileOutput(OutFile file) : file_(std::move(file)) {}

  Status write(std::string_view bytes) override {
    file_.write(bytes);
    file_.flush();
    // close() says what went wrong.
    return file_.failed() ? file_.close() : Done{};
  }
  Status finish() override { return file_.close(); }

 private:
  OutFile file_;
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

}  // namespace

Result<std::unique_ptr<ByteOutput>> create_bytes(const std::string& path) {
  auto file = path == "-" ? OutFile::standard_output() : OutFile::replace(path);
  if (!file) return file.error();
  std::unique_ptr<ByteOutput> output = std::make_unique<FileOutput>(std::move(*file));
  if (path.ends_with(".gz")) output = std::make_unique<GzipOutput>(std::move(output));
  if (path.ends_with(".zst")) output = std::make_unique<ZstdOutput>(std::move(output));
  return output;
}

}  // namespace muster
