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
inline const ParamInfo kDelta{"delta", ParamKind::kReal, "100000",
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

  double delta() const { return delta_; }

  // The Gittins index, by the durations that are longer than what was attained: the chance to end
  // within the next `delta`, over the service that the job takes until it ends or has had that
  // much. Larger goes first; 0 where no duration is longer. Time: O(log n).
  double gittins(double attained) const;
  // The next duration that is longer; infinity if there is none. Until then the index only grows,
  // there it falls. So an order by index, in which jobs that wait keep theirs, changes by itself
  // only where a running job comes to its next change: before, it moves forward.
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
  void refresh() const;
  std::size_t position_above(double value) const;

  double delta_;
  mutable std::vector<double> sorted_;
  mutable std::vector<double> sums_;  // of all before
  mutable bool fresh_ = false;
};

}  // namespace muster
