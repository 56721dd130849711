// The finished points of a sweep, one line each, in the order in which they finished. Every line is
// written at once; a line that was cut off can only be the last, and is ignored.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "report/metric_list.h"

namespace muster {

// Whether a figure depends on the run alone, not on the machine or its load.
bool machine_free(const MetricInfo& info);

// The first of `name`, `name`-2, `name`-3 and so on that is free or holds the sweep `description`.
std::string folder_for_sweep(const std::string& name, const std::string& description);

class SweepJournal {
 public:
  // Opens or begins the journal of the sweep `description` in `folder`. A folder that holds another
  // sweep, or something else, is refused.
  static Result<SweepJournal> open(const std::string& folder, const std::string& description);
  SweepJournal(SweepJournal&& other) noexcept;
  SweepJournal& operator=(SweepJournal&&) = delete;
  ~SweepJournal();

  // What was done before, by point.
  const std::map<std::size_t, Metrics>& done() const { return done_; }
  Status add(std::size_t point, const Metrics& metrics);

 private:
  SweepJournal(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  std::map<std::size_t, Metrics> done_;
};

}  // namespace muster
