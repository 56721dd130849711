// The progress model `countdown`: every second a running job loses its rate from the work left, and
// the first second that finds nothing left ends it. An undisturbed job so ends one second after its
// work is done: Lucid's simulator under srtf, tiresias and lucid, and Helios' under srtf. There a
// preemption adds its cost to the work that is left. Needs turns at whole seconds.
#pragma once

#include <vector>

#include "backend/sim/progress_model.h"
#include "backend/sim/progress_table.h"

namespace muster {

// Work that counts down in whole seconds, in the very order of roundings a loop would have.
struct Countdown {
  double left = 0;
  double rate = 1;
  Seconds since = 0;
  bool behind = false;  // shares GPUs with one that started before it
  double total = 0;     // work that there was in all

  // Work left after the seconds up to `now`.
  double left_at(Seconds now) const;
  // The second at which the job ends.
  Seconds end() const;
};

class CountdownModel final : public ProgressModel {
 public:
  // With `joined_keep_rate`, a job that joined another on its GPUs keeps the rate of sharing after
  // the other has left: a defect of the published simulator.
  explicit CountdownModel(bool joined_keep_rate) : joined_keep_rate_(joined_keep_rate) {}
  double rate(const Command& command, double usual) const override;
  double work_by(const Command& command, double total, Seconds now) const override;
  Seconds end_of(const Command& command, const JobProgress& progress, double total,
                 Seconds now) override;
  bool stops_add_work() const override { return true; }
  void checkpoint(Archive& archive) override { archive.list(clocks_); }
  std::unique_ptr<ProgressModel> clone() const override {
    return std::make_unique<CountdownModel>(*this);
  }

 private:
  bool joined_keep_rate_;
  std::vector<Countdown> clocks_;  // by slot
};

ProgressInfo countdown_progress();

}  // namespace muster
