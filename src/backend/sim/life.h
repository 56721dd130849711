// What real commands are like and simulated ones usually are not: they take time, fail, and are
// heard of late. All of it is drawn from a seed, launch by launch: what happens to launch 2 of job
// 7 depends on nothing else, so all compared policies get the same draws.
#pragma once

#include <cstdint>

#include "model/run_id.h"

namespace muster {

struct LifeOptions {
  Seconds start_latency = 0;  // mean, from free GPUs to the first step
  Seconds stop_latency = 0;   // mean, from the order to free GPUs: the job saves its work
  double spread = 0.5;        // latencies and delays lie within this part of their mean
  double start_failure = 0;   // probability that a start fails
  double partial_gang = 0;    // that of a gang on several nodes only a part comes up
  Seconds start_limit = 120;  // until that is given up
  Seconds report_delay = 0;   // mean, from an event to the word of it
  double report_loss = 0;     // probability that this word is lost
  Seconds census = 60;        // seconds between the looks that find what was lost
  std::uint64_t seed = 1;

  bool any() const {
    return start_latency > 0 || stop_latency > 0 || start_failure > 0 || partial_gang > 0 ||
           report_delay > 0 || report_loss > 0;
  }
};

// As foreseen: nobody knows what will fail, nor by how much a start will miss the mean.
LifeOptions mean_of(LifeOptions options);

// What one launch meets.
struct LaunchFate {
  Seconds start = 0;  // until it has started, or has failed to
  Seconds stop = 0;
  bool fails = false;
  bool partial = false;
  // Of the word that it has started, and of the word that it has ended.
  Seconds start_delay = 0;
  Seconds end_delay = 0;
  bool start_lost = false;
  bool end_lost = false;
};

LaunchFate fate_of(RunId run, const LifeOptions& options);

}  // namespace muster
