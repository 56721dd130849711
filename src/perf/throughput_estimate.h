// Speeds of pairs of jobs that nobody has measured, estimated as Gavel does: a few job types are
// references, measured beside each other; a new job is profiled beside some of them, the gaps are
// filled by matrix completion, and the reference that behaves most alike stands for it.
//
// Speeds beside a neighbour are parts of the speed alone, which is known of every job. Jobs on
// several GPUs are not estimated: their measured speeds count.
#pragma once

#include <vector>

#include "base/random.h"
#include "perf/throughput_table.h"

namespace muster {

struct EstimateOptions {
  double profiled = 1;  // part of the cells (GPU type and reference) that are measured of a new job
  int references = 0;   // job types that are measured beforehand; 0: all
  std::uint64_t seed = 0;
};

class ThroughputEstimator {
 public:
  // `types` are the GPU types that are looked at, as positions in the table.
  ThroughputEstimator(const ThroughputTable& table, std::vector<int> types,
                      const EstimateOptions& options);

  // The reference that a job of this key resembles, after a profile of its own; draws decide what
  // is measured. The key itself where it runs on several GPUs.
  int match(int key, Random& random) const;
  // The speeds of two jobs beside each other, of which these references stand for them.
  ThroughputTable::Pair pair(int type, int mine, int my_reference, int other,
                             int other_reference) const;

  // Positions among the table's keys.
  const std::vector<int>& references() const { return references_; }

 private:
  // The part of its speed that `mine` keeps beside `other`; 0 where one of the two cannot run.
  double part(int type, int mine, int other) const;
  int closest(const std::vector<double>& row, Random& random) const;

  const ThroughputTable& table_;
  std::vector<int> types_;
  EstimateOptions options_;
  std::vector<int> references_;
  std::vector<double> rows_;  // reference by (type, reference)
};

}  // namespace muster
