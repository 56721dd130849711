// One alarm time for each of some jobs, and which alarm is next.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "model/ids.h"

namespace muster {

class JobAlarms {
 public:
  // In place of the one it had; kNever: it has none.
  void set(JobId job, Seconds at) {
    const auto found = at_.find(job);
    if (found != at_.end()) {
      order_.erase({found->second, job});
      at_.erase(found);
    }
    if (at == kNever) return;
    at_.emplace(job, at);
    order_.emplace(at, job);
  }
  Seconds next() const { return order_.empty() ? kNever : order_.begin()->first; }
  // Takes out one whose moment has come; kNoJob: there is none.
  JobId take(Seconds now) {
    if (next() > now) return kNoJob;
    const JobId job = order_.begin()->second;
    set(job, kNever);
    return job;
  }

 private:
  std::map<JobId, Seconds> at_;
  std::set<std::pair<Seconds, JobId>> order_;
};

}  // namespace muster
