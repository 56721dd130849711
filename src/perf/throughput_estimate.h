// Estimated speeds of unmeasured pairs of jobs, as in Gavel: a few job types are references,
// measured in pairs with each other. A new job is profiled with some of them, matrix completion
// fills the gaps, and the most similar reference stands for the job.
//
// Speeds in a pair are fractions of the speed alone, which is known for every job. Jobs on several
// GPUs are not estimated: their measured speeds count.
#pragma once

#include <vector>

#include "base/random.h"
#include "perf/throughput_table.h"

namespace muster {

struct PairEstimateOptions {
  double profiled = 1;  // part of the cells (GPU type and reference) that are measured of a new job
  int references = 0;   // job types that are measured beforehand; 0: all
  std::uint64_t seed = 0;
};

class ThroughputEstimator {
 public:
  // `types` are the GPU types that are looked at, as positions in the table.
  ThroughputEstimator(const ThroughputTable& table, std::vector<int> types,
                      const PairEstimateOptions& options);

  // The reference that a job of this key resembles, after a profile of its own; draws decide what
  // is measured. The key itself where it runs on several GPUs.
  int match(int key, Random& random) const;
  // The speeds of two co-located jobs, given the references that stand for them.
  ThroughputTable::Pair pair(int type, int mine, int my_reference, int other,
                             int other_reference) const;

  // Positions among the table's keys.
  const std::vector<int>& references() const { return references_; }

 private:
  // The fraction of its speed that `mine` keeps with `other`; 0 where one of the two cannot run.
  double part(int type, int mine, int other) const;
  int closest(const std::vector<double>& row, Random& random) const;

  const ThroughputTable& table_;
  std::vector<int> types_;
  PairEstimateOptions options_;
  std::vector<int> references_;
  std::vector<double> rows_;  // reference by (type, reference)
};

}  // namespace muster
