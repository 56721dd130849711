#include "artifacts/tiresias/shortest_expected.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace muster {

double expected_as_coded(const DurationSample& sample, double attained) {
  const std::size_t from = sample.first_above(attained);
  if (from >= sample.size()) return 0;
  const std::size_t longest = sample.size() - 1;
  if (from == longest) return sample.duration(longest);
  return rounded(sample.sum(from, longest) / static_cast<double>(longest - from), 2);
}

ShortestExpectedAsCoded::ShortestExpectedAsCoded(const Params& params)
    : sample_(params.real("delta")), learns_(params.text("durations").empty()) {
  sample_.read(params.text("durations"));
}

void ShortestExpectedAsCoded::on_job(JobMoment moment, Slot slot, const View& view) {
  if (moment == JobMoment::kLeft) {
    if (learns_) sample_.add(view.jobs[slot].gpu_seconds_before);
    std::erase(list_, slot);
    if (newest_ == slot) newest_ = kNoSlot;
    return;
  }
  if (moment != JobMoment::kAdmitted) return;
  if (expected_.size() <= index(slot)) expected_.resize(index(slot) + 1);
  expected_[index(slot)] = expected_as_coded(sample_, 0);
  list_.push_back(slot);
  newest_ = slot;
}

void ShortestExpectedAsCoded::schedule(const View& view, Plan& plan) {
  for (const Slot slot : list_) {
    const Job& job = view.jobs[slot];
    if (!job.running() || newest_ == kNoSlot) continue;
    expected_[index(newest_)] = expected_as_coded(sample_, std::floor(job.attained_at(view.now)));
  }
  std::stable_sort(list_.begin(), list_.end(),
                   [this](Slot a, Slot b) { return expected_[index(a)] < expected_[index(b)]; });
  for (const Slot slot : list_) {
    const JobSpec& spec = view.jobs[slot].spec;
    if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
  }
}

}  // namespace muster
