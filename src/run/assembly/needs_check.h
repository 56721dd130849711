// Whether the inputs of a run provide what its policies need to know. It is checked before the run,
// so that the reader of its figures is warned if a policy lacked knowledge.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster_spec.h"
#include "model/job_spec.h"
#include "perf/perf_model.h"
#include "policy/needs.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// One policy of the run and what it declares.
struct NeedyPolicy {
  std::string name;  // as in messages: "scheduling policy 'qssf'"
  std::vector<Need> needs;
  bool keeps_truth = false;  // it has its own record of true run times
};

// All policies of a complete description.
Result<std::vector<NeedyPolicy>> needy_policies(const RunConfig& config);
// Whether one of them knows how long jobs will run.
bool clairvoyant(std::span<const NeedyPolicy> policies);

// What becomes of a policy that wants to know the length of a job and is told nothing.
inline constexpr std::string_view kUnknownLength =
    "such a job counts as one hour long, and as twice as long whenever it outruns that";
// What a user can do about a need that is not met, in options and columns that exist.
std::string_view remedy(Knowledge which);

// What the run knows beside its jobs.
struct KnownInputs {
  std::shared_ptr<const ClusterSpec> cluster;
  std::shared_ptr<const PerfModel> perf;  // what policies believe
  bool forecast = false;
  bool node_forecast = false;
  bool prices = false;
  Durations durations = Durations::kTrue;  // what policies are told of the lengths of jobs
  bool estimates_drawn = false;            // by an error model, for every job
};

// Of how many jobs is a thing known, and of how many should it be.
struct KnownOf {
  std::uint64_t known = 0;
  std::uint64_t wanted = 0;
};

// Counts, job by job, what is known of them; only what some policy needs costs anything.
class JobCensus {
 public:
  JobCensus(std::span<const NeedyPolicy> policies, const KnownInputs& inputs);
  void add(const JobSpec& job);
  KnownOf of(Knowledge which) const { return counts_[static_cast<std::size_t>(which)]; }

 private:
  // Whether it should be known of this job, and whether it is.
  std::pair<bool, bool> look(Knowledge which, const JobSpec& job) const;

  KnownInputs inputs_;
  std::vector<Symbol> gpu_types_;
  std::vector<Knowledge> asked_;
  std::vector<KnownOf> counts_;
};

// What is not met: one sentence per policy and need, with how many jobs it is about and what would
// provide it.
struct UnmetNeeds {
  std::vector<std::string> warnings;
  // A policy falls back to durations, although it does not ask for them.
  bool clairvoyant = false;
};

// The error names a need without which a policy refuses to run.
Result<UnmetNeeds> unmet_needs(std::span<const NeedyPolicy> policies, const KnownInputs& inputs,
                               const JobCensus& census);

// The needs of one run, from its description to its end.
class RunNeeds {
 public:
  RunNeeds() = default;
  static Result<RunNeeds> make(const RunConfig& config);
  // Something has to be known of jobs: the run does well to have them all at hand.
  bool about_jobs() const;
  // Where `jobs` are at hand, the error says what a policy cannot do without.
  Status check(const KnownInputs& inputs, const std::vector<JobSpec>* jobs);
  // Counts jobs that were not at hand as they come.
  std::unique_ptr<JobSource> counted(std::unique_ptr<JobSource> source) const;

  // Whether all jobs that policies need something of are counted.
  bool complete() const;
  // Complete when that is so.
  std::vector<std::string> warnings() const;
  // Whether a policy knows how long jobs will run, because it says so or for want of estimates.
  bool clairvoyant() const;

 private:
  std::vector<NeedyPolicy> policies_;
  KnownInputs inputs_;
  std::shared_ptr<JobCensus> census_;
  bool at_hand_ = false;  // all jobs, before the run
};

}  // namespace muster
