// summary.json and back. docs/results.md describes its members.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/metrics.h"
#include "report/run_info.h"

namespace muster {

inline constexpr std::string_view kResultFormat = "muster-result";
inline constexpr int kResultVersion = 1;

struct SummaryFile {
  RunInfo info;
  RunSummary summary;
  bool complete = true;
  std::string incomplete_because;  // when it is not
};

std::string summary_to_json(const SummaryFile& file);

// `where` names the file in messages. Members that are missing keep their defaults; unknown ones
// are ignored, so that results of neighbouring versions can be read.
Result<SummaryFile> summary_from_json(std::string_view text, std::string_view where);

}  // namespace muster
