// A user-defined figure. Derive from it, fold what you need in bounded memory, and pass it to
// MetricsFold::add; summary.json, tables and reports then show its value with the built-in ones.
// The classes below can be used as they are and serve as examples.
#pragma once

#include <string_view>

#include "model/record.h"
#include "report/quantiles.h"
#include "report/units.h"

namespace muster {

class CustomMetric {
 public:
  virtual ~CustomMetric() = default;
  virtual std::string_view key() const = 0;    // as in a file: lower case, words joined by '_'
  virtual std::string_view label() const = 0;  // as in a table
  virtual Unit unit() const = 0;
  virtual Better better() const { return Better::kNeither; }

  virtual void on_decision(const Decision&) {}
  virtual void on_job_end(const JobRecord&) {}  // only jobs inside the measured window
  virtual void on_turn(const TurnStats&) {}
  virtual double value() const = 0;
};

// GPU-hours that were idle while jobs waited in the queue: the cost of fragmentation and strict
// order.
class IdleWhileWaiting final : public CustomMetric {
 public:
  std::string_view key() const override { return "idle_while_waiting_gpu_hours"; }
  std::string_view label() const override { return "idle while jobs wait"; }
  Unit unit() const override { return Unit::kGpuHours; }
  Better better() const override { return Better::kLower; }
  void on_turn(const TurnStats& turn) override {
    // The state after the previous turn held until now.
    if (last_.waiting > 0)
      gpu_seconds_.add((turn.time - last_.time) * (last_.usable_gpus - last_.used_gpus));
    last_ = turn;
  }
  double value() const override { return gpu_seconds_.value() / 3600; }

 private:
  TurnStats last_;
  Sum gpu_seconds_;
};

// Mean over turns of the blocking index, as Muri's testbed logs it: how long waiting jobs have
// waited, relative to their remaining run time. Needs EngineOptions::close_look.
class MeanBlockingIndex final : public CustomMetric {
 public:
  std::string_view key() const override { return "avg_blocking_index"; }
  std::string_view label() const override { return "avg blocking index"; }
  Unit unit() const override { return Unit::kFactor; }
  Better better() const override { return Better::kLower; }
  void on_turn(const TurnStats& turn) override {
    sum_.add(turn.blocking_index);
    ++turns_;
  }
  double value() const override { return sum_.value() / static_cast<double>(turns_); }

 private:
  Sum sum_;
  long long turns_ = 0;
};

// Mean completion time weighted by requested GPUs, which shows the effect on large jobs.
class GpuWeightedCompletion final : public CustomMetric {
 public:
  std::string_view key() const override { return "gpu_weighted_jct_s"; }
  std::string_view label() const override { return "avg JCT by GPU"; }
  Unit unit() const override { return Unit::kSeconds; }
  Better better() const override { return Better::kLower; }
  void on_job_end(const JobRecord& job) override {
    if (job.status != JobState::kFinished) return;
    weighted_.add(job.completion_time() * job.gpus);
    gpus_ += job.gpus;
  }
  double value() const override { return weighted_.value() / static_cast<double>(gpus_); }

 private:
  Sum weighted_;
  long long gpus_ = 0;
};

}  // namespace muster
