// An active job: what it asked for, where it stands in its life, how far it has come.
//
// Progress is kept lazily: `work` was done as of `since`, and grows by `rate` per second from then
// on. A backend that simulates sets an exact rate once per start; one that drives real processes
// reports work from time to time. A reader calls work_at(now) and cannot tell the difference.
//
// Where commands take time, a job that was given GPUs is running to all policies, and yet
// only *starting*: `since` is kNever until its backend says that it has begun. One that lost its
// GPUs waits to all policies, and yet is *stopping* until they are physically free.
#pragma once

#include <algorithm>
#include <string_view>

#include "model/gpu_set.h"
#include "model/job_spec.h"

namespace muster {

enum class JobState : std::uint8_t {
  kSubmitted,  // known, not yet answered by admission (or held by it)
  kQueued,     // admitted, has never run
  kRunning,
  kPreempted,  // has run, holds no GPUs
  kFinished,
  kFailed,
  kRefused,
  kCancelled,  // a person took it back
};

std::string_view job_state_name(JobState state);
// The life cycle: which states may follow which.
bool may_follow(JobState from, JobState to);

// What is read and written every turn comes first and lies together, beside the number and what
// is believed: a turn passes many jobs and should touch few lines of memory of each.
struct Job {
  Slot self = kNoSlot;  // where it lives in the job table
  JobState state = JobState::kSubmitted;

  double total_work = 0;  // seconds of undisturbed run, as far as known or believed
  double work = 0;        // done as of `since`
  double rate = 0;        // gained per second after `since`; 0 while waiting
  // May lie ahead of now while a start or restart is still being paid for; kNever: it is starting.
  Seconds since = 0;
  double saved_work = 0;  // at the last checkpoint
  double added_work = 0;  // by stops that cost work; part of total_work

  JobSpec spec;

  GpuSet gpus{};                  // held now
  HostResources host{};           // CPU cores and memory held beside each GPU
  Seconds held_since = 0;         // start of the present run; kNever while its first start lasts
  Seconds held_before = 0;        // seconds it held GPUs in earlier runs
  double gpu_seconds_before = 0;  // GPU-seconds of earlier runs
  Seconds waiting_since = 0;      // start of the present wait
  Seconds waited_before = 0;      // in earlier waits
  Seconds admitted = 0;           // kNever: admission makes it wait, and has said so
  Seconds first_start = kNever;
  int preemptions = 0;  // times it lost its GPUs to another job
  int restarts = 0;     // times it lost them to a failure
  int crashes = 0;      // of those, by its own fault
  int resizes = 0;
  double lost_work = 0;             // work done twice because of failures
  Seconds overhead = 0;             // seconds paid for starts and restarts
  std::uint32_t launch = 0;         // number of the present launch, or of the last one; from 1
  std::uint32_t ended = 0;          // the last launch of which nothing is left on any GPU
  std::uint32_t failed_starts = 0;  // in a row, none of them its own fault
  std::uint32_t start_order = 0;    // of the present run: jobs that started earlier have less
  bool joined = false;              // the present run began on GPUs of a job that was already there
  bool opportunistic =
      false;  // the present run uses what the holders of its GPUs leave; they may change
  Slot next_co_located = kNoSlot;  // of the jobs on the same GPUs, in a ring; itself if alone

  bool running() const { return state == JobState::kRunning; }
  bool waiting() const { return state == JobState::kQueued || state == JobState::kPreempted; }
  // It was given GPUs and has not begun to use them.
  bool starting() const { return running() && since == kNever; }
  // It was told to leave its GPUs and may still be on them.
  bool stopping() const { return waiting() && ended < launch; }

  double work_at(Seconds now) const { return work + rate * std::max(0.0, now - since); }
  double remaining_at(Seconds now) const { return std::max(0.0, total_work - work_at(now)); }
  // Seconds for which it has held GPUs, and GPU-seconds.
  Seconds attained_at(Seconds now) const {
    return held_before + (running() ? std::max(0.0, now - held_since) : 0);
  }
  double gpu_seconds_at(Seconds now) const {
    return gpu_seconds_before + (running() ? std::max(0.0, now - held_since) * gpus.gpus() : 0);
  }
};

}  // namespace muster
