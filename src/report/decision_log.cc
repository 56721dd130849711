#include "report/decision_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "base/csv.h"
#include "base/out_file.h"
#include "report/decision_coding.h"

namespace muster {
namespace {

constexpr int kCompressionLevel = 1;
constexpr std::size_t kBlock = std::size_t{128} << 10;

std::string file_header() {
  std::string header(kDecisionMagic);
  for (const std::uint32_t number : {kDecisionVersion, std::uint32_t{0}}) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      header.push_back(static_cast<char>((number >> shift) & 0xFFU));
    }
  }
  return header;
}

}  // namespace

struct DecisionWriter::State {
  explicit State(OutFile out)
      : file(std::move(out)), compressor(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, kCompressionLevel);
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_checksumFlag, 1);
    plain.reserve(kBlock + 1024);
  }

  void settle() {
    if (!pending) return;
    encode_decision(plain, context, *pending, placement);
    pending.reset();
    placement.clear();
    if (plain.size() >= kBlock) compress(ZSTD_e_continue);
  }

  void compress(ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{plain.data(), plain.size(), 0};
    std::size_t left = 1;
    while (input.pos < input.size || (directive == ZSTD_e_end && left != 0)) {
      char* const room = file.room(kBlock);
      ZSTD_outBuffer output{room, kBlock, 0};
      left = ZSTD_compressStream2(compressor.get(), &output, &input, directive);
      file.used(room + output.pos);
      if (ZSTD_isError(left) != 0) {
        trouble = ZSTD_getErrorName(left);
        break;
      }
    }
    plain.clear();
  }

  OutFile file;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor;
  DecisionContext context;
  std::string plain;                // records not yet compressed
  std::optional<Decision> pending;  // its placement may still come
  GpuSet placement;
  std::uint64_t count = 0;
  std::string trouble;
};

DecisionWriter::DecisionWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
DecisionWriter::DecisionWriter(DecisionWriter&&) noexcept = default;
DecisionWriter& DecisionWriter::operator=(DecisionWriter&&) noexcept = default;
DecisionWriter::~DecisionWriter() = default;

Result<DecisionWriter> DecisionWriter::create(const std::string& path) {
  auto file = OutFile::create(path);
  if (!file) return file.error();
  auto state = std::make_unique<State>(std::move(*file));
  state->file.write(file_header());
  return DecisionWriter(std::move(state));
}

void DecisionWriter::write(const Decision& decision) {
  state_->settle();
  state_->pending = decision;
  ++state_->count;
}

void DecisionWriter::place(const GpuSet& gpus) {
  if (state_->pending) state_->placement = gpus;
}

bool DecisionWriter::failed() const { return state_->file.failed() || !state_->trouble.empty(); }
std::uint64_t DecisionWriter::count() const { return state_->count; }

Status DecisionWriter::close() {
  state_->settle();
  state_->plain.push_back(static_cast<char>(kEndMark));
  append_varint(state_->plain, state_->count);
  state_->compress(ZSTD_e_end);
  Status closed = state_->file.close();
  if (closed && !state_->trouble.empty())
    return Error{"cannot compress decisions: " + state_->trouble};
  return closed;
}

struct DecisionReader::State {
  State(std::string name, int opened)
      : path(std::move(name)),
        descriptor(opened),
        decompressor(ZSTD_createDCtx(), &ZSTD_freeDCtx) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ::close(descriptor); }

  void stop(std::string_view why) {
    error =
        fmt::format("{} is not a whole decision log: {} (after {} decisions)", path, why, count);
  }

  // Reads and decompresses some more; false at the end of the file or at an error.
  bool refill() {
    plain.erase(0, used);
    used = 0;
    const std::size_t before = plain.size();
    while (plain.size() == before) {
      if (input.pos == input.size && !read_block()) return false;
      plain.resize(before + kBlock);
      ZSTD_outBuffer output{plain.data() + before, kBlock, 0};
      const std::size_t code = ZSTD_decompressStream(decompressor.get(), &output, &input);
      plain.resize(before + output.pos);
      if (ZSTD_isError(code) != 0) {
        stop(fmt::format("its compressed data are damaged: {}", ZSTD_getErrorName(code)));
        return false;
      }
      frame_done = code == 0;
      if (frame_done) break;
    }
    return true;
  }

  // After the end mark there must be nothing but the checksum of the compressed frame.
  void check_end(std::uint64_t total) {
    if (total != count) stop(fmt::format("its end mark counts {} decisions", total));
    while (error.empty() && !frame_done && used == plain.size() && refill()) {
    }
    if (error.empty() && !frame_done) stop("its last bytes are missing");
    if (error.empty() && (used != plain.size() || input.pos != input.size || read_block())) {
      stop("something follows its end mark");
    }
  }

  bool read_block() {
    raw.resize(kBlock);
    ssize_t got = 0;
    do {
      got = ::read(descriptor, raw.data(), raw.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) error = file_error("read", path, errno).message;
    input = {raw.data(), static_cast<std::size_t>(got > 0 ? got : 0), 0};
    return got > 0;
  }

  std::string path;
  int descriptor;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompressor;
  std::vector<char> raw;
  ZSTD_inBuffer input{nullptr, 0, 0};
  std::string plain;
  std::size_t used = 0;
  bool frame_done = false;
  DecisionContext context;
  Decision decision;
  GpuSet placement;
  std::uint64_t count = 0;
  bool ended = false;
  std::string error;
};

DecisionReader::DecisionReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
DecisionReader::DecisionReader(DecisionReader&&) noexcept = default;
DecisionReader& DecisionReader::operator=(DecisionReader&&) noexcept = default;
DecisionReader::~DecisionReader() = default;

Result<DecisionReader> DecisionReader::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error("read", path, errno);
  auto state = std::make_unique<State>(path, descriptor);
  const std::string expected = file_header();
  std::string found(expected.size(), '\0');
  const ssize_t got = ::read(descriptor, found.data(), found.size());
  if (got != static_cast<ssize_t>(found.size()) ||
      found.compare(0, kDecisionMagic.size(), kDecisionMagic) != 0) {
    return Error{
        fmt::format("{} is not a decision log: it does not begin with {}", path, kDecisionMagic)};
  }
  if (found != expected) {
    return Error{
        fmt::format("{} is a decision log of another version than {}, which this muster reads; "
                    "use the muster that wrote it",
                    path, kDecisionVersion)};
  }
  return DecisionReader(std::move(state));
}

const Decision* DecisionReader::next() {
  State& state = *state_;
  while (!state.ended && state.error.empty()) {
    const char* cursor = state.plain.data() + state.used;
    const char* const end = state.plain.data() + state.plain.size();
    std::uint64_t total = 0;
    const char* const begin = cursor;
    const Decoded decoded =
        decode_decision(&cursor, end, state.context, state.decision, state.placement, total);
    state.used += static_cast<std::size_t>(cursor - begin);
    switch (decoded) {
      case Decoded::kRecord:
        ++state.count;
        return &state.decision;
      case Decoded::kEnd:
        state.ended = true;
        state.check_end(total);
        break;
      case Decoded::kNeedMore:
        if (!state.refill() && state.error.empty()) state.stop("it has no end mark");
        break;
      case Decoded::kBroken:
        state.stop("a record makes no sense");
        break;
    }
  }
  return nullptr;
}

const GpuSet& DecisionReader::placement() const { return state_->placement; }

Status DecisionReader::status() const {
  if (!state_->error.empty()) return Error{state_->error};
  return Done{};
}

namespace {

void append_decision(std::string& out, const Decision& decision, const GpuSet& where) {
  append_number(out, decision.time);
  out.push_back(',');
  out.append(action_name(decision.action));
  for (const JobId job : {decision.job, decision.other}) {
    out.push_back(',');
    if (job != kNoJob) append_integer(out, static_cast<std::int64_t>(job));
  }
  for (const std::int32_t number : {decision.gpus, decision.detail}) {
    out.push_back(',');
    append_integer(out, number);
  }
  out.push_back(',');
  out.append(reason_name(decision.reason));
  out.push_back(',');
  for (int i = 0; i < where.nodes(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}:{:x}", i == 0 ? "" : " ", index(where[i].node),
                   where[i].mask);
  }
  out.push_back('\n');
}

}  // namespace

Status decisions_to_csv(const std::string& log_path, const std::string& csv_path) {
  auto reader = DecisionReader::open(log_path);
  if (!reader) return reader.error();
  return replace_file(csv_path, [&](OutFile& file) -> Status {
    file.write("time_s,action,job,other,gpus,detail,reason,placement\n");
    std::string line;
    while (const Decision* decision = reader->next()) {
      line.clear();
      append_decision(line, *decision, reader->placement());
      file.write(line);
    }
    if (Status read = reader->status(); !read) return read;
    return file.close();
  });
}

}  // namespace muster
