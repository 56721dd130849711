// How one decision becomes bytes and back: the inside of decisions.bin, before compression. Writer
// and reader share the running state, so that what can be predicted from the record before costs
// nothing.
#pragma once

#include <cstdint>
#include <string>

#include "model/decision.h"
#include "model/gpu_set.h"

namespace muster {

// First byte of a record: which parts follow.
inline constexpr unsigned kTimeMoved = 1;
inline constexpr unsigned kHasOther = 2;
inline constexpr unsigned kHasGpus = 4;
inline constexpr unsigned kHasDetail = 8;
inline constexpr unsigned kHasPlacement = 16;
inline constexpr unsigned kEndMark = 128;

// What both sides know before a record.
struct DecisionContext {
  double time = 0;
  std::uint32_t job = 0;          // of the record before
  std::uint32_t next_submit = 0;  // one past the last submitted job

  std::uint32_t expected_job(Action action) const {
    return action == Action::kSubmit ? next_submit : job;
  }
  void advance(const Decision& decision) {
    time = decision.time;
    job = static_cast<std::uint32_t>(decision.job);
    if (decision.action == Action::kSubmit) next_submit = job + 1;
  }
};

void append_varint(std::string& out, std::uint64_t value);
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

void encode_decision(std::string& out, DecisionContext& context, const Decision& decision,
                     const GpuSet& placement);

enum class Decoded { kRecord, kEnd, kNeedMore, kBroken };

// Reads one record from the front of [*start, end) and moves *start past it when it is whole.
// At kEnd, `total` is the number of records that the writer counted.
Decoded decode_decision(const char** start, const char* end, DecisionContext& context,
                        Decision& decision, GpuSet& placement, std::uint64_t& total);

}  // namespace muster
