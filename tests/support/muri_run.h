// Runs of the published Muri settings, for the parity tests and the bench.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

struct MuriSetting {
  std::string policy;     // as in the table of published results: "Muri-L groups of 2"
  bool autopack = false;  // groups slower than serial execution are dissolved
};

struct MuriOutcome {
  struct Times {
    double start = 0;
    double end = 0;
    double held = 0;
    double jct = 0;
  };
  std::vector<Times> jobs;  // by id
  long long turns = 0;
  double seconds = 0;  // of processor time it took
  double mean_jct() const;
  double makespan() const;  // the last end, from time 0
  double p99_jct() const;   // the published way: sorted, at floor(0.99 n)
};

// `jobs` in order of submission, with symbols from the table.
MuriOutcome run_muri(const MuriSetting& setting, const std::vector<JobSpec>& jobs,
                     Symbols& symbols);

}  // namespace muster
