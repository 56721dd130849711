// What past durations say about a job that has had so much service: its Gittins index, and how much
// more it is expected to need. For policies that know no durations but have seen some.
#pragma once

#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/params.h"

namespace muster {

inline const ParamInfo kPastDurations{"durations", ParamKind::kText, "",
                                      "past durations in GPU-seconds, as numbers or the path of a "
                                      "file; empty: those of the jobs that have ended"};
inline const ParamInfo kDelta{"delta", ParamKind::kReal, "3250",
                              "GPU-seconds that the Gittins index looks ahead", 1};

class DurationSample {
 public:
  // `delta`: the service that the index looks ahead.
  explicit DurationSample(double delta) : delta_(delta) {}

  // Numbers separated by commas, blanks or line ends; a heading is passed over.
  void read(std::string_view text);
  void add(double duration);
  bool empty() const { return sorted_.empty(); }
  void checkpoint(Archive& archive) {
    archive.list(sorted_);
    if (archive.reading()) fresh_ = false;
  }

  // The chance to end within the next `delta`, over the service that it takes: larger goes first.
  // As Tiresias tabulates it, once per duration and rounded; 0 beyond the longest.
  double gittins(double attained) const;
  // When the index changes next; infinity if it does not.
  double next_change(double attained) const;
  // The mean of those that last longer, less what was had; beyond the longest, as much again.
  double expected_remaining(double attained) const;

  // The durations in ascending order: how many there are, where those begin that last longer than
  // `value`, each of them, and the sum of those in [from, to).
  std::size_t size() const { return sorted_.size(); }
  std::size_t first_above(double value) const;
  double duration(std::size_t at) const;
  double sum(std::size_t from, std::size_t to) const;

 private:
  double index_at(double attained) const;
  void refresh() const;
  std::size_t position_above(double value) const;

  double delta_;
  mutable std::vector<double> sorted_;
  mutable std::vector<double> sums_;   // of all before
  mutable std::vector<double> table_;  // the index, by duration
  mutable bool fresh_ = false;
};

}  // namespace muster
