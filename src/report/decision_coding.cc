#include "report/decision_coding.h"

#include <bit>
#include <cmath>

namespace muster {
namespace {

constexpr double kMostWhole = 9007199254740992.0;  // 2^53: whole numbers up to here are exact
constexpr std::uint64_t kMostNodes = 1U << 20U;
constexpr std::size_t kVarintRoom = 10;  // most bytes of 64 bits in groups of seven

char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

// Times are mostly whole seconds apart. Otherwise the bits of the double are sent as their
// difference to the bits before, in as few bytes as it takes.
char* put_time(char* at, double before, double now) {
  const double step = now - before;
  if (step > 0 && step < kMostWhole / 2 && step == std::floor(step) && before + step == now) {
    return put_varint(at, static_cast<std::uint64_t>(step) << 1);
  }
  std::uint64_t difference =
      std::bit_cast<std::uint64_t>(now) - std::bit_cast<std::uint64_t>(before);
  const int bytes = (static_cast<int>(std::bit_width(difference)) + 7) / 8;
  at = put_varint(at, (static_cast<std::uint64_t>(bytes) << 1) | 1);
  for (int i = 0; i < bytes; ++i, difference >>= 8) *at++ = static_cast<char>(difference & 0xFF);
  return at;
}

std::int32_t job_step(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to - from);
}

// The GPUs on one node; nodes are sent as their distance from the one before.
char* put_part(char* at, NodeId before, const NodeGpus& part) {
  const auto step =
      job_step(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(part.node));
  return put_varint(put_varint(at, zigzag(step)), part.mask);
}

class Cursor {
 public:
  Cursor(const char* begin, const char* end) : at_(begin), end_(end) {}
  const char* at() const { return at_; }
  Decoded state() const { return state_; }
  bool good() const { return state_ == Decoded::kRecord; }
  void broken() { state_ = Decoded::kBroken; }

  unsigned byte() {
    if (!good()) return 0;
    if (at_ == end_) {
      state_ = Decoded::kNeedMore;
      return 0;
    }
    return static_cast<unsigned char>(*at_++);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const unsigned part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
      if ((part & 0x80) == 0) return value;
    }
    broken();
    return 0;
  }
  double time(double before) {
    const std::uint64_t code = varint();
    if ((code & 1) == 0) return before + static_cast<double>(code >> 1);
    const std::uint64_t bytes = code >> 1;
    if (bytes > 8) broken();
    std::uint64_t difference = 0;
    for (std::uint64_t i = 0; i < bytes && good(); ++i) {
      difference |= static_cast<std::uint64_t>(byte()) << (8 * i);
    }
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(before) + difference);
  }
  std::int32_t signed32() { return static_cast<std::int32_t>(unzigzag(varint())); }

 private:
  const char* at_;
  const char* end_;
  Decoded state_ = Decoded::kRecord;
};

void decode_placement(Cursor& cursor, GpuSet& placement) {
  const std::uint64_t nodes = cursor.varint();
  if (nodes > kMostNodes) cursor.broken();
  std::uint32_t node = 0;
  for (std::uint64_t i = 0; i < nodes && cursor.good(); ++i) {
    node += static_cast<std::uint32_t>(cursor.signed32());
    const std::uint64_t mask = cursor.varint();
    if (cursor.good()) placement.add(NodeId{node}, mask);
  }
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  if (value < 128) {  // nearly all of them
    out.push_back(static_cast<char>(value));
    return;
  }
  char bytes[kVarintRoom];
  out.append(bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes));
}

void encode_decision(std::string& out, DecisionContext& context, const Decision& decision,
                     const GpuSet& placement) {
  // Compare bits: -0.0 and NaN must come back as they went in.
  const bool moved =
      std::bit_cast<std::uint64_t>(decision.time) != std::bit_cast<std::uint64_t>(context.time);
  const unsigned parts = (moved ? kTimeMoved : 0) | (decision.other != kNoJob ? kHasOther : 0) |
                         (decision.gpus != 0 ? kHasGpus : 0) |
                         (decision.detail != 0 ? kHasDetail : 0) |
                         (placement.empty() ? 0 : kHasPlacement);
  char record[3 + 9 * kVarintRoom];
  char* at = record;
  *at++ = static_cast<char>(parts);
  *at++ = static_cast<char>(decision.action);
  *at++ = static_cast<char>(decision.reason);
  if (moved) at = put_time(at, context.time, decision.time);
  const auto job = static_cast<std::uint32_t>(decision.job);
  at = put_varint(at, zigzag(job_step(context.expected_job(decision.action), job)));
  if (decision.other != kNoJob) {
    at = put_varint(at, zigzag(job_step(job, static_cast<std::uint32_t>(decision.other))));
  }
  if (decision.gpus != 0) at = put_varint(at, zigzag(decision.gpus));
  if (decision.detail != 0) at = put_varint(at, zigzag(decision.detail));
  if (!placement.empty()) {
    at = put_varint(at, static_cast<std::uint64_t>(placement.nodes()));
    at = put_part(at, NodeId{0}, placement[0]);
  }
  out.append(record, static_cast<std::size_t>(at - record));
  for (int i = 1; i < placement.nodes(); ++i) {
    char part[2 * kVarintRoom];
    const char* const end = put_part(part, placement[i - 1].node, placement[i]);
    out.append(part, static_cast<std::size_t>(end - part));
  }
  context.advance(decision);
}

Decoded decode_decision(const char** start, const char* end, DecisionContext& context,
                        Decision& decision, GpuSet& placement, std::uint64_t& total) {
  Cursor cursor(*start, end);
  placement.clear();
  decision = Decision{};
  const unsigned parts = cursor.byte();
  if (parts == kEndMark) {
    total = cursor.varint();
    if (!cursor.good()) return cursor.state();
    *start = cursor.at();
    return Decoded::kEnd;
  }
  if ((parts & ~0x1FU) != 0) return Decoded::kBroken;
  decision.action = static_cast<Action>(cursor.byte());
  decision.reason = static_cast<Reason>(cursor.byte());
  if (decision.action > kLastAction || decision.reason > kLastReason) return Decoded::kBroken;
  decision.time = (parts & kTimeMoved) != 0 ? cursor.time(context.time) : context.time;
  const std::uint32_t job =
      context.expected_job(decision.action) + static_cast<std::uint32_t>(cursor.signed32());
  decision.job = JobId{job};
  if ((parts & kHasOther) != 0)
    decision.other = JobId{job + static_cast<std::uint32_t>(cursor.signed32())};
  if ((parts & kHasGpus) != 0) decision.gpus = cursor.signed32();
  if ((parts & kHasDetail) != 0) decision.detail = cursor.signed32();
  if ((parts & kHasPlacement) != 0) decode_placement(cursor, placement);
  if (!cursor.good()) return cursor.state();
  context.advance(decision);
  *start = cursor.at();
  return Decoded::kRecord;
}

}  // namespace muster
