#include "support/muri_run.h"

#include <algorithm>
#include <ctime>

#include "artifacts/muri/merged_events_pacing.h"
#include "artifacts/muri/recharge_backend.h"
#include "engine/engine.h"
#include "support/restart_tables.h"
#include "support/simulation.h"

namespace muster {
namespace {

class Collector final : public Observer {
 public:
  explicit Collector(MuriOutcome& outcome) : outcome_(outcome) {}
  void on_job_end(const JobRecord& job) override {
    outcome_.jobs[index(job.id)] = {job.start, job.end, job.gpu_seconds / job.gpus,
                                    job.completion_time()};
  }

 private:
  MuriOutcome& outcome_;
};

}  // namespace

double MuriOutcome::mean_jct() const {
  double sum = 0;
  for (const Times& job : jobs) sum += job.jct;
  return sum / static_cast<double>(jobs.size());
}

double MuriOutcome::makespan() const {
  double last = 0;
  for (const Times& job : jobs) last = std::max(last, job.end);
  return last;
}

double MuriOutcome::p99_jct() const {
  std::vector<double> sorted;
  for (const Times& job : jobs) sorted.push_back(job.jct);
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(0.99 * static_cast<double>(sorted.size()))];
}

MuriOutcome run_muri(const MuriSetting& setting, const std::vector<JobSpec>& jobs,
                     Symbols& symbols) {
  const std::string& policy = setting.policy;
  MuriOutcome outcome;
  outcome.jobs.resize(jobs.size());
  Collector collector(outcome);
  Choice scheduling{"muri", {{"dissolve", setting.autopack ? "true" : "false"}}};
  Choice placement{"yarn"};
  Choice perf{"interleave"};
  RechargeOptions options;
  Closeness merge = options.arrivals;
  RestartCost cost = muri_restart_cost(symbols);
  options.groups_add = true;
  const bool muri = policy.starts_with("Muri");
  if (policy == "SRTF") scheduling = {"srtf"};
  if (policy == "SRSF") scheduling = {"srsf"};
  if (policy == "Tiresias") {
    scheduling = {"dlas-gpu"};
    placement = {"count"};
    options.completions = {};
  }
  if (policy == "AntMan") {
    scheduling = {"antman"};
    placement = {"antman-as-coded"};
    options.groups_add = false;
  }
  if (policy == "Themis bisect") scheduling = {"themis-in-steps-as-coded"};
  if (policy == "Muri-L LAS queues") scheduling.params["queues"] = "3250,7200";
  if (policy == "Muri-S") scheduling.params["priority"] = "remaining";
  if (policy == "Muri-L groups of 2") scheduling.params["largest_group"] = "2";
  if (policy == "Muri-L groups of 3") scheduling.params["largest_group"] = "3";
  if (policy == "Muri-L worst ordering") perf.params["order"] = "worst";
  if (policy == "Muri-L no Blossom") {
    scheduling.params["grouping"] = "neighbours";
    perf.params["stretch_4"] = "1.3";
  }
  if (!muri) {
    options.arrivals = {};
    merge = {};
  }
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(8, 8));
  parts.perf = make_perf(perf, symbols);
  parts.pacing = make_merged_events(merge);
  parts.policy_sets.push_back(make_policy_set(scheduling, placement));
  RechargeBackend backend(
      {.cluster = parts.cluster, .perf = parts.perf, .cost = std::make_shared<RestartCost>(cost)},
      options);
  ListSource source(jobs);
  parts.backend = &backend;
  parts.source = &source;
  parts.observers = {&collector};
  const std::clock_t start = std::clock();
  Engine engine(std::move(parts));
  const Status done = engine.run();
  (void)done;
  outcome.seconds = static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
  outcome.turns = engine.turns();
  return outcome;
}

}  // namespace muster
