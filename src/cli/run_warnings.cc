#include "cli/run_warnings.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "report/refusals.h"

namespace muster {

namespace {

using Sentences = std::vector<std::string>;

// Each sentence once, with the labels of the runs that it is about where not all share it.
Sentences told_once(const std::vector<FinishedRun>& runs,
                    const std::function<Sentences(const FinishedRun&)>& sentences) {
  std::vector<std::pair<std::string, Sentences>> told;
  for (const FinishedRun& run : runs) {
    for (const std::string& sentence : sentences(run)) {
      auto found = std::find_if(told.begin(), told.end(),
                                [&](const auto& entry) { return entry.first == sentence; });
      if (found == told.end()) found = told.insert(told.end(), {sentence, {}});
      found->second.push_back(run.info->label);
    }
  }
  Sentences result;
  for (const auto& [sentence, labels] : told) {
    result.push_back(labels.size() == runs.size()
                         ? sentence
                         : fmt::format("{}: {}", fmt::join(labels, ", "), sentence));
  }
  return result;
}

}  // namespace

void warn_about(const std::vector<FinishedRun>& runs) {
  for (const std::string& sentence :
       told_once(runs, [](const FinishedRun& run) { return run.info->notes; })) {
    note(sentence);
  }
  for (const std::string& sentence :
       told_once(runs, [](const FinishedRun& run) { return run.info->warnings; })) {
    warn(sentence);
  }
  for (const std::string& sentence : told_once(runs, [](const FinishedRun& run) {
         return refusal_warnings(*run.info, *run.summary);
       })) {
    warn(sentence);
  }
}

}  // namespace muster
