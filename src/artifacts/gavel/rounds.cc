#include "artifacts/gavel/rounds.h"

namespace muster {

void RoundsAsCoded::on_job(JobMoment moment, Slot slot, const View& view) {
  RoundsPolicy::on_job(moment, slot, view);
  if (moment == JobMoment::kLeft && view.jobs.active().empty()) emptied_ = view.now;
}

bool RoundsAsCoded::checkpoint(Archive& archive) {
  archive.value(emptied_);
  return RoundsPolicy::checkpoint(archive);
}

// The engine does not ask when there are no jobs. Gavel's loop goes round once more and resets if
// it may, and so the next job may have to wait.
void RoundsAsCoded::before_round(const View& view) {
  const bool may_reset = emptied_ - last_reset_ >= options().reset_interval || last_reset_ == 0;
  if (emptied_ < view.now && may_reset) last_reset_ = emptied_;
  emptied_ = kNever;
}

}  // namespace muster
