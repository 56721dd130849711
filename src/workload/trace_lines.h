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

// What a job may have that a format may not carry. kRounded and below are matters of degree.
enum JobProperty : std::size_t {
  kName,
  kArrival,
  kElasticRange,
  kDeadline,
  kEstimate,
  kCpus,
  kMemory,
  kIterations,
  kBatchSize,
  kPriority,
  kModel,
  kUser,
  kPartition,
  kGpuType,
  kRounded,      // times that are no whole seconds
  kDuration,     // where steps stand for it
  kLineBreak,    // in a text
  kSymbolNames,  // numbers stand for them
  kProperties,
};

std::string_view property_text(std::size_t property);

// Whether the job has the property; false for matters of degree, which only a format can tell.
bool has_property(const JobSpec& job, std::size_t property);

// Turns one job into one line; knows which properties it carries, and marks what it had to change.
class LineFormat {
 public:
  virtual ~LineFormat() = default;
  virtual std::string_view header() const = 0;  // with its line end
  virtual bool carries(std::size_t property) const = 0;
  // Appends the line of the job at `position` (from 0), and may set bits of `changed` by property.
  virtual void append(const JobSpec& job, std::uint64_t position, std::string& line,
                      std::uint32_t& changed) = 0;
};

// Null for a format that cannot be written.
std::unique_ptr<LineFormat> make_lines(std::string_view format, const Symbols& symbols);

}  // namespace muster
