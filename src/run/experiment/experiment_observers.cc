#include "run/experiment/experiment_observers.h"

#include <algorithm>

#include "base/text.h"
#include "run/assembly/simulation.h"

namespace muster {
namespace {

std::string outcome_of(const JobRecord& job) {
  if (job.status == JobState::kRefused) return "declined";
  if (!job.has_deadline()) return "best_effort";
  return job.met_deadline() ? "met" : "late";
}

}  // namespace

JobTimes::JobTimes(const std::vector<GoldenJob>& golden, bool trace_ids, bool completions)
    : trace_ids_(trace_ids), completions_(completions) {
  if (golden.empty()) return;
  first_ = golden.front().id;
  times_.resize(static_cast<std::size_t>(golden.back().id - first_) + 1);
}

void JobTimes::on_job_end(const JobRecord& job) {
  if (completions_ && job.status == JobState::kFinished) {
    completion_.push_back(job.completion_time());
  }
  const long long id =
      trace_ids_ ? parse_integer(job.name).value_or(-1) : static_cast<long long>(index(job.id));
  if (id < first_ || id - first_ >= static_cast<long long>(times_.size())) return;
  times_[static_cast<std::size_t>(id - first_)] = {.id = id,
                                                   .submit = job.submit,
                                                   .end = job.end,
                                                   .start = job.start,
                                                   .preempted = job.preemptions,
                                                   .jct = job.completion_time(),
                                                   .outcome = outcome_of(job)};
}

double JobTimes::within(double seconds) const {
  const auto count = std::count_if(completion_.begin(), completion_.end(),
                                   [seconds](double one) { return one <= seconds; });
  return static_cast<double>(count) / static_cast<double>(completion_.size());
}

double JobTimes::at_rank(double fraction) const {
  if (completion_.empty()) return kNoFigure;
  std::vector<double> ordered = completion_;
  const auto place = static_cast<std::size_t>(fraction * static_cast<double>(ordered.size()));
  const auto found =
      ordered.begin() + static_cast<std::ptrdiff_t>(std::min(place, ordered.size() - 1));
  std::nth_element(ordered.begin(), found, ordered.end());
  return *found;
}

Completions::Completions(const RunConfig& config) : options_(metrics_options(config)) {}

void Completions::on_job_end(const JobRecord& job) {
  if (job.id < options_.first || job.id > options_.last) return;
  if (job.status == JobState::kFinished) times_[job.id] = job.completion_time();
}

double Completions::mean_ratio(const Completions& theirs) const {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [job, time] : times_) {
    const auto found = theirs.times_.find(job);
    if (found == theirs.times_.end() || !(found->second > 0)) continue;
    sum += time / found->second;
    ++count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace muster
