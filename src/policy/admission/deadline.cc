#include <algorithm>

#include "policy/builtin.h"
#include "policy/elasticflow/candidates.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23). A job with a deadline is let in if it can make it, and nobody
// who would make it without the job misses for it. One that is late already keeps nobody out.
class DeadlineAdmission final : public AdmissionPolicy {
 public:
  explicit DeadlineAdmission(Seconds slot) : slot_(slot) {}
  AdmissionAnswer admit(const View& view, const Load&, const JobSpec& job) override {
    if (job.deadline == kNever) return {};
    const AdmissionAnswer refused{Admission::kRefuse, Reason::kDeadlineImpossible};
    const Candidate candidate = candidate_of(view, job, job.duration);
    if (!candidate.fits(view.cluster.usable_gpus())) return refused;
    const PlanFrame frame = frame_of(view, slot_);
    const std::vector<Candidate> others = candidates_by_deadline(view);
    // Those due before it are planned before it and feel nothing.
    const auto later = std::upper_bound(
        others.begin(), others.end(), candidate,
        [](const Candidate& a, const Candidate& b) { return a.deadline < b.deadline; });
    GpuTimeline without_it(view.now, frame.gpus);
    for (auto it = others.begin(); it != later; ++it) add(frame, *it, without_it);
    GpuTimeline with_it = without_it;
    if (!add(frame, candidate, with_it)) return refused;
    for (auto it = later; it != others.end() && it->deadline < kFarDeadline; ++it) {
      const bool before = add(frame, *it, without_it);
      if (!add(frame, *it, with_it) && before) return refused;
    }
    return {};
  }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<DeadlineAdmission>(*this);
  }

 private:
  bool add(const PlanFrame& frame, const Candidate& candidate, GpuTimeline& free) {
    plan_share(frame, candidate.planned(), free, 0, plan_);
    std::swap(free, plan_.free);
    return plan_.in_time;
  }

  Seconds slot_;
  JobPlan plan_;
};

}  // namespace

std::unique_ptr<AdmissionPolicy> make_deadline_admission(const Params& params) {
  return std::make_unique<DeadlineAdmission>(params.real("slot"));
}

}  // namespace muster
