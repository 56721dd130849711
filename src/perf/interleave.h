// Interleaving: co-located jobs take turns at storage, CPU, GPU and network, so that one computes
// while another loads. One cycle runs one step of every member; its length is the period of the
// group. Numbers in, numbers out: policies, performance models and the live runtime use it.
//
// Source: Muri (SIGCOMM'22). docs/muri.md has the picture and the formula.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "base/params.h"
#include "base/symbols.h"
#include "model/job_spec.h"
#include "model/plan.h"
#include "perf/perf_model.h"

namespace muster {

// The objective for the members' places in the cycle: the shortest period, or the longest, to see
// how much the order matters.
enum class StageOrder { kBest, kWorst };

struct Interleaving {
  StageOrder order = StageOrder::kBest;
  // Storage and CPU work are one stage that may take two of the four places of a cycle. Otherwise
  // each stage has one place of its own.
  bool merged_load = true;
  // A measured step over the profiled one, alone and in groups of two, three and four: what sharing
  // costs beyond the plan.
  std::array<double, kMaxGroup> stretch = {1.015, 1.33, 1.5, 1.37};

  // Seconds of one step alone.
  double solo(const JobSpec& job) const { return job.step_ms * stretch[0] / 1000; }
  // Seconds of one cycle; of a single member, its step alone.
  double period(std::span<const JobSpec* const> members, StageOrder by) const;
  double period(std::span<const JobSpec* const> members) const { return period(members, order); }
  // Seconds of one step of an opportunistic job on the GPUs of a holder whose rate it must not
  // change: its stages run in the holder's steps, each where the holder leaves that resource idle.
  double opportunistic_step(const JobSpec& job, const JobSpec& holder) const;
  // The fraction of the four resources that the group keeps busy, in [0, 1].
  double efficiency(std::span<const JobSpec* const> members) const;
};

// A job can be interleaved when its steps and at least one of its stages are known.
bool can_interleave(const JobSpec& job);

// Whether these jobs could share GPUs: one to four, whose stages are known, and which together fit
// into the memory of a GPU. Memory 0 is not known and not checked. The error says what is wrong.
Status check_group(std::span<const JobSpec* const> members, std::span<const double> memory_mb,
                   double gpu_memory_mb);

// The cycle without what sharing costs: the stages in seconds, by member.
double bare_period(std::span<const StageTimes> members, StageOrder by, bool merged_load);

// As a performance model: a job's speed is its step alone over the period of its group.
Result<std::unique_ptr<PerfModel>> make_interleaving(const Params& params, Symbols& symbols);

}  // namespace muster
