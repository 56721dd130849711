#include <algorithm>
#include <optional>

#include "policy/elasticflow/deadline_book.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23). A job with a deadline is accepted if it can meet it, and no job
// that would meet its own without it misses it. A job that is late already keeps no job out.
//
// Where the scheduling policy keeps a book of promises the answer is one, too. Otherwise it is what
// planning all active jobs says; whether they get what was planned is up to the policy.
class DeadlineAdmission final : public AdmissionPolicy {
 public:
  explicit DeadlineAdmission(Seconds slot) : slot_(slot) {}
  AdmissionAnswer admit(const View& view, const Load&, const JobSpec& job) override {
    if (job.deadline == kNever) return {};
    const Candidate candidate = candidate_of(view, job, view.perf.total_work(job));
    const PlanFrame frame = frame_of(view, slot_);
    const bool makes_it =
        candidate.fits(frame.gpus) && (view.promises != nullptr ? promised(view, frame, candidate)
                                                                : planned(view, frame, candidate));
    if (makes_it) return {};
    const bool within_a_turn = job.deadline - job.submit < view.turn_length;
    return {Admission::kRefuse, within_a_turn ? Reason::kSlotTooLong : Reason::kDeadlineImpossible};
  }
  Needs needs() const override { return kNeeds; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<DeadlineAdmission>(slot_);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration},
                                    {Knowledge::kDeadline, "all jobs are let in"}};
  // Jobs of one turn are tried on top of each other: the book changes only when they are scheduled.
  bool promised(const View& view, const PlanFrame& frame, const Candidate& candidate) {
    if (!trial_ || !trial_->of(*view.promises, view.now)) trial_.emplace(*view.promises, frame);
    return trial_->add(candidate);
  }

  // Progressive filling twice, with and without the job: it may not make a job late that would be
  // in time without it. O(jobs x sizes x steps).
  bool planned(const View& view, const PlanFrame& frame, const Candidate& candidate) {
    const std::vector<Candidate> others = candidates_by_deadline(view);
    // Those due before it are planned before it and feel nothing.
    const auto later = std::upper_bound(
        others.begin(), others.end(), candidate,
        [](const Candidate& a, const Candidate& b) { return a.deadline < b.deadline; });
    GpuTimeline without_it(view.now, frame.gpus);
    for (auto it = others.begin(); it != later; ++it) add(frame, *it, without_it);
    GpuTimeline with_it = without_it;
    if (!add(frame, candidate, with_it)) return false;
    for (auto it = later; it != others.end() && it->deadline < kFarDeadline; ++it) {
      const bool before = add(frame, *it, without_it);
      if (!add(frame, *it, with_it) && before) return false;
    }
    return true;
  }
  bool add(const PlanFrame& frame, const Candidate& candidate, GpuTimeline& free) {
    plan_minimum_share(frame, candidate.planned(), free, 0, plan_);
    std::swap(free, plan_.free);
    return plan_.in_time;
  }

  Seconds slot_;
  JobPlan plan_;
  std::optional<BookTrial> trial_;  // of this turn
};

}  // namespace

PolicyInfo<AdmissionPolicy> deadline_admission_row() {
  return {"deadline",
          "refuses jobs that cannot meet their deadline, or only if others miss theirs",
          "ElasticFlow, 2023",
          {kPlanSlot},
          [](const Params& params) -> std::unique_ptr<AdmissionPolicy> {
            return std::make_unique<DeadlineAdmission>(params.real("slot"));
          }};
}

}  // namespace muster
