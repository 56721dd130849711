// What a person must know about a run in addition to its figures: what was run, and how to run it
// again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/metric_list.h"

namespace muster {

struct RunInfo {
  std::string label;  // short, as a row or a legend shows it: "las + consolidated"
  // In the order to show them: trace, cluster, policies and their parameters, seed.
  std::vector<std::pair<std::string, std::string>> settings;
  // Of the cluster, for remedies; empty where it names none.
  std::vector<std::string> partitions;
  std::vector<std::string> gpu_types;
  std::vector<std::string> notes;     // on how the jobs were read and what is not known of them
  std::vector<std::string> warnings;  // what policies need and the inputs do not tell them
  bool clairvoyant = false;           // they know how long jobs will run, as only a simulation does
  std::string rerun;                  // a command line
  double wall_s = kNoFigure;          // real time of the run
  double peak_rss_mb = kNoFigure;     // see peak_rss_mb()
};

// Whether the runs had the same jobs and the same cluster: only then can one be best.
bool comparable(const std::vector<const RunInfo*>& runs);

// Most memory this process ever held, in units of 1,048,576 bytes.
double peak_rss_mb();

}  // namespace muster
