// comparison.json, beside the results of a comparison: which runs belong to it, and which of them
// are there. With it, a report can name what an interrupted comparison lacks, and a new comparison
// in the same folder does not mix with an old one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

inline constexpr std::string_view kComparisonName = "comparison.json";

struct ComparisonFile {
  struct Run {
    std::string name;
    std::string folder;  // inside that of the comparison
    bool complete = false;
  };
  std::vector<Run> runs;

  std::vector<std::string> missing() const;  // names
};

bool is_comparison(const std::string& folder);
Result<ComparisonFile> read_comparison(const std::string& folder);
Status write_comparison(const std::string& folder, const ComparisonFile& comparison);

// Removes the results of the comparison that the folder holds, and its page. What else is in the
// folder stays. A result that holds other things too is refused, or with `force` set aside.
Status clear_comparison(const std::string& folder, bool force = false);

}  // namespace muster
