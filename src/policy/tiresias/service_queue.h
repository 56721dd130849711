// One queue of a policy by attained service: jobs that ran in the last turn, that wait, that came
// since. What waits is kept by GPU count, so that a long queue of jobs that cannot fit is never
// walked.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "base/archive.h"
#include "model/ids.h"

namespace muster {

struct ServiceQueue {
  // A job that has left is told apart by its number: its slot may be another job's.
  struct Waiting {
    long long order;
    Slot slot;
    JobId job;
  };
  struct Line {
    int gpus;
    std::deque<Waiting> jobs;
  };

  std::vector<Slot> front;    // ran in the last turn
  std::vector<Line> waiting;  // by GPUs, each in order
  std::vector<Slot> tail;     // came since
  long long first = 0;        // orders in use
  long long last = 0;

  void checkpoint(Archive& archive) {
    archive.list(front);
    archive.each(waiting, [&archive](Line& line) {
      archive.value(line.gpus);
      archive.each(line.jobs, [&archive](Waiting& one) { archive.value(one); });
    });
    archive.list(tail);
    archive.value(first);
    archive.value(last);
  }

  std::deque<Waiting>& line(int gpus) {
    const auto at = std::lower_bound(waiting.begin(), waiting.end(), gpus,
                                     [](const Line& line, int g) { return line.gpus < g; });
    if (at != waiting.end() && at->gpus == gpus) return at->jobs;
    return waiting.insert(at, {gpus, {}})->jobs;
  }
};

}  // namespace muster
