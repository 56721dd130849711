// How a job becomes a line of each format that can be written, and what the format does not carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

// What a job may have that a format may not carry, as a set of bits.
using JobProperties = std::uint32_t;

namespace job_property {
inline constexpr JobProperties kName = 1U << 0U;
inline constexpr JobProperties kArrival = 1U << 1U;
inline constexpr JobProperties kElasticRange = 1U << 2U;
inline constexpr JobProperties kDeadline = 1U << 3U;
inline constexpr JobProperties kEstimate = 1U << 4U;
inline constexpr JobProperties kCpus = 1U << 5U;
inline constexpr JobProperties kMemory = 1U << 6U;
inline constexpr JobProperties kIterations = 1U << 7U;
inline constexpr JobProperties kBatchSize = 1U << 8U;
inline constexpr JobProperties kPriority = 1U << 9U;
inline constexpr JobProperties kModel = 1U << 10U;
inline constexpr JobProperties kUser = 1U << 11U;
inline constexpr JobProperties kPartition = 1U << 12U;
inline constexpr JobProperties kGpuType = 1U << 13U;
// Matters of degree, which only a format can tell.
inline constexpr JobProperties kRounded = 1U << 14U;      // times that are no whole seconds
inline constexpr JobProperties kDuration = 1U << 15U;     // where steps stand for it
inline constexpr JobProperties kLineBreak = 1U << 16U;    // in a text
inline constexpr JobProperties kSymbolNames = 1U << 17U;  // numbers stand for them
inline constexpr JobProperties kValue = 1U << 18U;
inline constexpr std::size_t kCount = 19;
}  // namespace job_property

// What is lost without the property of that bit, from 0.
std::string_view property_text(std::size_t bit);

// Those that the job has.
JobProperties properties_of(const JobSpec& job);

// Turns one job into one line.
class LineFormat {
 public:
  virtual ~LineFormat() = default;
  virtual std::string_view header() const = 0;  // with its line end
  virtual JobProperties carried() const = 0;
  // Appends the line of the job at `position` (from 0), and adds to `changed` what it had to
  // change.
  virtual void append(const JobSpec& job, std::uint64_t position, std::string& line,
                      JobProperties& changed) = 0;
};

// Null for a format that cannot be written.
std::unique_ptr<LineFormat> make_lines(std::string_view format, const Symbols& symbols);

}  // namespace muster
