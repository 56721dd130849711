// Converts a job's reported steps into the engine's units: seconds of run, and the rate at which
// they are gained. A job that reports nothing is believed to run as fast as its performance model
// says.
#pragma once

#include <algorithm>

#include "backend/live/executor.h"
#include "daemon/board.h"

namespace muster {

class ProgressMeter {
 public:
  // Words come in bursts: a speed is believed once it was measured over so long.
  static constexpr Seconds kLeastSeconds = 1;

  // A new launch: its speed may be another one. Until it is known the last one counts.
  void begin(std::uint32_t launch) {
    if (launch == launch_) return;
    launch_ = launch;
    began_ = first_ = -1;
    since_ = kNever;
  }
  void hear(const ProgressReport& report, Seconds now) {
    begin(report.run.launch);
    if (began_ < 0 || report.step < began_) {
      began_ = report.step;
      since_ = kNever;
    } else if (since_ == kNever) {
      // The first steps of a launch are no measure of the others: they load and compile.
      if (report.step > began_) {
        since_ = now;
        first_ = report.step;
      }
    } else if (now >= since_ + kLeastSeconds && report.step > std::max(first_, news_.step)) {
      // Words without a new step are about something else, such as an evaluation after the last.
      news_.steps_per_second = (report.step - first_) / (now - since_);
    }
    news_.step = std::max(report.step, 0.0);
    if (report.total > 0) news_.total = report.total;
    if (report.saved_step >= 0) news_.saved_step = std::max(news_.saved_step, report.saved_step);
    for (const auto& [name, value] : report.metrics) {
      if (news_.metrics.contains(name) || news_.metrics.size() < 32) news_.metrics[name] = value;
    }
    news_.heard = now;
  }

  const JobNews& news() const { return news_; }
  bool knows_speed() const { return news_.steps_per_second > 0; }
  // Whether work can be told in seconds: it said how much there is in all.
  bool knows_total() const { return news_.total > 0 && knows_speed(); }
  // Seconds of run, where all of it takes `total_work` of them.
  double work_of(double step, double total_work) const {
    return news_.total > 0 ? total_work * std::clamp(step / news_.total, 0.0, 1.0) : -1;
  }
  // It has said that its last step is done: all that may follow is the end.
  bool all_done() const { return news_.total > 0 && news_.step >= news_.total; }
  double total_work() const { return news_.total / news_.steps_per_second; }

 private:
  JobNews news_;
  std::uint32_t launch_ = 0;
  double began_ = -1;       // the step with which this launch began; -1: it has not said
  Seconds since_ = kNever;  // of the first word of a step of this launch
  double first_ = 0;        // and that step
};

}  // namespace muster
