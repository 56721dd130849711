// Plain simulators to check the engine against and to measure it by: written for clarity, with
// nothing kept up to date and nothing clever.
#pragma once

#include <algorithm>
#include <vector>

#include "model/job_spec.h"

namespace muster::bench {

struct PlainCluster {
  std::vector<int> free;  // GPUs by node
  int gpus_per_node = 8;

  PlainCluster(int nodes, int gpus)
      : free(static_cast<std::size_t>(nodes), gpus), gpus_per_node(gpus) {}

  // The tightest node, else whole nodes from the emptiest down with the tightest for the rest.
  bool take(int gpus, std::vector<std::pair<int, int>>& taken) {
    taken.clear();
    const auto tightest = [this](int wanted) {
      int best = -1;
      for (std::size_t i = 0; i < free.size(); ++i) {
        const int at = static_cast<int>(i);
        if (free[i] >= wanted && (best < 0 || free[i] < free[static_cast<std::size_t>(best)]))
          best = at;
      }
      return best;
    };
    int left = gpus;
    while (left > 0) {
      const int best = tightest(left);
      if (best >= 0) {
        taken.emplace_back(best, left);
        free[static_cast<std::size_t>(best)] -= left;
        return true;
      }
      const auto most = std::max_element(free.begin(), free.end());
      if (*most == 0) break;
      taken.emplace_back(static_cast<int>(most - free.begin()), *most);
      left -= *most;
      *most = 0;
    }
    give_back(taken);
    return false;
  }
  void give_back(const std::vector<std::pair<int, int>>& taken) {
    for (const auto& [node, count] : taken) free[static_cast<std::size_t>(node)] += count;
  }
};

struct PlainRun {
  double end = 0;
  std::size_t job = 0;
  std::vector<std::pair<int, int>> taken;
};

// First come, first served, nobody overtakes; one turn per distinct time. Returns the end of every
// job.
inline std::vector<double> plain_fifo(const std::vector<JobSpec>& jobs, int nodes, int gpus) {
  PlainCluster cluster(nodes, gpus);
  std::vector<double> ends(jobs.size(), 0);
  std::vector<PlainRun> running;
  std::vector<std::size_t> queue;
  std::size_t next = 0;
  std::size_t head = 0;
  while (next < jobs.size() || !running.empty()) {
    double now = next < jobs.size() ? jobs[next].submit : kNever;
    for (const PlainRun& run : running) now = std::min(now, run.end);
    for (std::size_t i = 0; i < running.size();) {
      if (running[i].end > now) {
        ++i;
        continue;
      }
      cluster.give_back(running[i].taken);
      running[i] = running.back();
      running.pop_back();
    }
    while (next < jobs.size() && jobs[next].submit <= now) {
      if (jobs[next].gpus <= nodes * gpus) queue.push_back(next);
      ++next;
    }
    std::vector<std::pair<int, int>> taken;
    while (head < queue.size() && cluster.take(jobs[queue[head]].gpus, taken)) {
      ends[queue[head]] = now + jobs[queue[head]].duration;
      running.push_back({ends[queue[head]], queue[head], taken});
      ++head;
    }
  }
  return ends;
}

}  // namespace muster::bench
