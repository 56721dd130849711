#include "cli/run_warnings.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "report/refusals.h"

namespace muster {

void warn_about(const std::vector<FinishedRun>& runs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> told;  // and the labels of the runs
  for (const FinishedRun& run : runs) {
    for (const std::string& sentence : refusal_warnings(*run.info, *run.summary)) {
      auto found = std::find_if(told.begin(), told.end(),
                                [&](const auto& entry) { return entry.first == sentence; });
      if (found == told.end()) found = told.insert(told.end(), {sentence, {}});
      found->second.push_back(run.info->label);
    }
  }
  for (const auto& [sentence, labels] : told) {
    warn(labels.size() == runs.size() ? sentence
                                      : fmt::format("{}: {}", fmt::join(labels, ", "), sentence));
  }
}

}  // namespace muster
