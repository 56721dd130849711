// The times at which running jobs will have done all the work that they are believed to have. A job
// that still runs then was believed too short (model/belief.h). Only jobs whose length is a belief
// are kept here.
#pragma once

#include <vector>

#include "base/archive.h"
#include "model/job_table.h"

namespace muster {

class Overruns {
 public:
  // The job runs on like this from now on.
  void expect(const Job& job, const JobTable& jobs);
  // The next moment at which a belief may prove too low; kNever if none will.
  Seconds next(const JobTable& jobs);
  // Takes one job whose moment has come; kNoSlot: there is none.
  Slot take(Seconds now, const JobTable& jobs);
  void checkpoint(Archive& archive) { archive.list(heap_); }

 private:
  struct Entry {
    Seconds time = kNever;
    JobId job = kNoJob;
    Slot slot = kNoSlot;
    friend bool operator>(const Entry& a, const Entry& b) {
      return a.time != b.time ? a.time > b.time : a.job > b.job;
    }
  };
  // The job has left, stopped or changed its rate since.
  static bool stale(const Entry& entry, const JobTable& jobs);
  void pop();

  std::vector<Entry> heap_;
};

}  // namespace muster
