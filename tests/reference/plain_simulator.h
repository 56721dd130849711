// A scheduler so plain that reading it is proof enough. Time goes by second by second, every job
// and every GPU is looked at every second, all numbers are whole. It shares nothing with the engine
// and its policies, so that both giving the same schedule means something.
#pragma once

#include <string>
#include <vector>

namespace muster {

struct PlainJob {
  long arrival = 0;
  long seconds = 0;  // of work
  int gpus = 0;
};

enum class PlainOrder { kArrival, kShortestRemaining, kLeastService };

struct PlainRules {
  PlainOrder order = PlainOrder::kArrival;
  bool preempt = false;   // a job that comes first may push out running ones
  bool backfill = false;  // jobs behind one that does not fit may start
  long quantum = 0;       // with somebody waiting, look again after so many seconds; 0: at events
  long round = 0;    // look only at multiples of this, also for jobs that are done; 0: at events
  long restart = 0;  // seconds without progress after every start but the first
};

struct PlainOutcome {
  long start = -1;  // the first
  long end = -1;
  int preemptions = 0;
};

struct PlainSchedule {
  std::vector<PlainOutcome> jobs;
  // By GPU, a character per second: a to z for jobs 0 to 25, and so on with A and 0; '.' is idle.
  std::vector<std::string> chart;
};

// Jobs are in order of arrival; none asks for more than all GPUs.
PlainSchedule simulate_plainly(int gpus, const std::vector<PlainJob>& jobs,
                               const PlainRules& rules);

// The character of a job in a chart.
char letter_of(std::size_t job);

}  // namespace muster
