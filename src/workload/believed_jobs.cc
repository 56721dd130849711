#include "workload/believed_jobs.h"

#include "model/belief.h"

namespace muster {

std::optional<Durations> parse_durations(std::string_view text) {
  if (text == "true") return Durations::kTrue;
  if (text == "estimate") return Durations::kEstimate;
  if (text == "none") return Durations::kNone;
  return std::nullopt;
}

std::string_view durations_name(Durations durations) {
  switch (durations) {
    case Durations::kTrue:
      return "true";
    case Durations::kEstimate:
      return "estimate";
    case Durations::kNone:
      return "none";
  }
  return "";
}

const JobSpec* BelievedJobs::peek() {
  if (ready_) return &job_;
  const JobSpec* next = inner_->peek();
  if (next == nullptr || durations_ == Durations::kTrue) return next;
  job_ = *next;
  job_.truth.set({job_.duration, job_.iterations, perf_->total_work(job_)});
  if (durations_ == Durations::kNone) {
    job_.estimate = 0;
  } else if (errors_ != nullptr) {
    job_.estimate = job_.duration * errors_->factor(job_);
  }
  believe(job_, job_.estimate > 0 ? job_.estimate : kUnknownDuration);
  ready_ = true;
  return &job_;
}

}  // namespace muster
