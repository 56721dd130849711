// Writing traces: Muster's own CSV, which carries everything, and the other systems' formats as far
// as they go. What a format cannot carry is counted, so that a conversion can say what it lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

// A property that `jobs` of the jobs have and the written trace cannot carry.
struct Loss {
  std::string what;
  std::uint64_t jobs = 0;
};

class TraceWriter {
 public:
  // Dropping a writer that was not finished leaves no file behind.
  virtual ~TraceWriter() = default;
  virtual Status write(const JobSpec& job) = 0;
  virtual Status finish() = 0;
  // So far.
  virtual std::vector<Loss> losses() const = 0;
  virtual std::uint64_t jobs() const = 0;
};

struct WritableFormat {
  std::string_view name;      // that of the TraceFormat
  std::string_view sentence;  // how jobs are written
};
const std::vector<WritableFormat>& writable_formats();

// "-" is standard output; files whose names end in .gz or .zst are compressed.
Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path, std::string_view format,
                                                  const Symbols& symbols);

}  // namespace muster
