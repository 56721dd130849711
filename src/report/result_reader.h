// Reads a result folder back: for reports, explanations and tests.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/record.h"
#include "report/decision_log.h"
#include "report/summary_json.h"
#include "report/timeline.h"

namespace muster {

class ResultFolder {
 public:
  // Reads summary.json; an incomplete result opens too, its `summary().complete` says so.
  static Result<ResultFolder> open(const std::string& path);

  const std::string& path() const { return path_; }
  const SummaryFile& summary() const { return summary_; }

  Result<Timeline> timeline() const;
  bool has_jobs() const;
  bool has_decisions() const;
  Result<DecisionReader> decisions() const;
  // Calls `visit` for every line of jobs.csv in order of leaving, until it returns false. Names of
  // users, partitions and models are interned in `symbols`.
  Status for_each_job(Symbols& symbols, const std::function<bool(const JobRecord&)>& visit) const;
  // The texts in inputs/, by file name.
  Result<std::map<std::string, std::string>> inputs() const;

 private:
  ResultFolder(std::string path, SummaryFile summary)
      : path_(std::move(path)), summary_(std::move(summary)) {}

  std::string path_;
  SummaryFile summary_;
};

}  // namespace muster
