#include "perf/goodput.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace muster {
namespace {

constexpr double kTiny = 1e-8;

// ---------------------------------------------------------------------------------------------
// The fit: seven numbers within bounds, by projected steps of a quasi-Newton method (BFGS).

constexpr std::size_t kNumbers = 7;
using Vector = std::array<double, kNumbers>;

enum Place : std::size_t {
  kCompute,
  kComputeSample,
  kAcross,
  kAcrossGpu,
  kWithin,
  kWithinGpu,
  kOverlap
};

StepModel model_of(const Vector& x) {
  return {x[kCompute], x[kComputeSample], x[kAcross], x[kAcrossGpu],
          x[kWithin],  x[kWithinGpu],     x[kOverlap]};
}

struct Misfit {
  double value = 0;
  Vector slope{};
};

// A little against much overlap and against exchanges that grow fast with GPUs.
void add_penalties(const Vector& x, Misfit& result) {
  constexpr double kAgainstOverlap = 1e-3;
  constexpr double kAgainstGrowth = 1e-2;
  const double g = x[kOverlap];
  const double across = x[kAcrossGpu] / x[kAcross];
  const double within = x[kWithinGpu] / x[kWithin];
  result.value += kAgainstOverlap * (g - 1) * (g - 1);
  result.value += kAgainstGrowth * (across * across + within * within);
  result.slope[kOverlap] += 2 * kAgainstOverlap * (g - 1);
  result.slope[kAcrossGpu] += 2 * kAgainstGrowth * across / x[kAcross];
  result.slope[kAcross] -= 2 * kAgainstGrowth * across * across / x[kAcross];
  result.slope[kWithinGpu] += 2 * kAgainstGrowth * within / x[kWithin];
  result.slope[kWithin] -= 2 * kAgainstGrowth * within * within / x[kWithin];
}

// Root mean square errors of the logarithms of compute and step times, and penalties.
Misfit misfit(const Vector& x, std::span<const StepMeasurement> measurements) {
  const StepModel m = model_of(x);
  const double g = m.overlap;
  double sum_compute = 0;
  double sum_step = 0;
  Vector slope_compute{};
  Vector slope_step{};
  for (const StepMeasurement& seen : measurements) {
    const double compute = m.compute_time(seen.local_batch);
    const double exchange = m.exchange_time(seen.nodes, seen.gpus);
    const double error = std::log(compute / seen.compute_time);
    sum_compute += error * error;
    slope_compute[kCompute] += error / compute;
    slope_compute[kComputeSample] += error * seen.local_batch / compute;
    // log((c^g + e^g)^(1/g)), from the larger of the two to keep the powers in range.
    const double larger = std::max(compute, exchange);
    const double log_c = std::log(compute / larger);
    const double log_e = std::log(exchange / larger);
    const double power_c = std::exp(g * log_c);
    const double power_e = std::exp(g * log_e);
    const double total = power_c + power_e;
    const double log_total = std::log(total);
    const double step_error = std::log(larger) + log_total / g - std::log(seen.step_time);
    sum_step += step_error * step_error;
    const double by_compute = power_c / total / compute;
    const double by_exchange = power_e / total / exchange;
    slope_step[kCompute] += step_error * by_compute;
    slope_step[kComputeSample] += step_error * by_compute * seen.local_batch;
    const double further = std::max(seen.gpus - 2.0, kTiny);
    if (seen.nodes > 1) {
      slope_step[kAcross] += step_error * by_exchange;
      slope_step[kAcrossGpu] += step_error * by_exchange * further;
    } else if (seen.gpus > 1) {
      slope_step[kWithin] += step_error * by_exchange;
      slope_step[kWithinGpu] += step_error * by_exchange * further;
    }
    const double by_overlap =
        (power_c * log_c + power_e * log_e) / (total * g) - log_total / (g * g);
    slope_step[kOverlap] += step_error * by_overlap;
  }
  const auto count = static_cast<double>(measurements.size());
  const double rms_compute = std::sqrt(sum_compute / count);
  const double rms_step = std::sqrt(sum_step / count);
  Misfit result;
  result.value = rms_compute + rms_step;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    if (rms_compute > 0) result.slope[i] += slope_compute[i] / (count * rms_compute);
    if (rms_step > 0) result.slope[i] += slope_step[i] / (count * rms_step);
  }
  add_penalties(x, result);
  return result;
}

struct Bounds {
  Vector least;
  Vector most;
};

class Fit {
 public:
  Fit(const Vector& start, const Bounds& bounds, std::span<const StepMeasurement> measurements)
      : bounds_(bounds), measurements_(measurements), x_(start) {
    now_ = misfit(x_, measurements_);
    forget_curvature();
  }
  Vector run() {
    constexpr int kMostSteps = 200;
    constexpr double kEnough = 1e-9;
    bool fresh = true;
    for (int i = 0; i < kMostSteps; ++i) {
      const double before = now_.value;
      if (!step()) {
        if (fresh) break;
        forget_curvature();
        fresh = true;
        continue;
      }
      fresh = false;
      if (before - now_.value <= kEnough * std::max(1.0, std::abs(before))) break;
    }
    return x_;
  }

 private:
  void forget_curvature() {
    for (auto& row : inverse_) row.fill(0);
    // The numbers differ by orders of magnitude: a step relative to each of them.
    for (std::size_t i = 0; i < kNumbers; ++i) inverse_[i][i] = x_[i] * x_[i];
  }
  bool bound(std::size_t i) const {
    return bounds_.least[i] == bounds_.most[i] ||
           (x_[i] <= bounds_.least[i] && now_.slope[i] > 0) ||
           (x_[i] >= bounds_.most[i] && now_.slope[i] < 0);
  }
  // One step downhill; false if there is none along this direction.
  bool step() {
    Vector direction{};
    double slope = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      if (bound(i)) continue;
      for (std::size_t j = 0; j < kNumbers; ++j) {
        if (!bound(j)) direction[i] -= inverse_[i][j] * now_.slope[j];
      }
      slope += direction[i] * now_.slope[i];
    }
    if (!(slope < 0)) return false;
    constexpr int kHalvings = 30;
    constexpr double kShare = 1e-4;  // of the decrease that the slope promises
    double length = 1;
    for (int i = 0; i < kHalvings; ++i, length /= 2) {
      Vector next = x_;
      double promised = 0;
      for (std::size_t j = 0; j < kNumbers; ++j) {
        next[j] = std::clamp(x_[j] + length * direction[j], bounds_.least[j], bounds_.most[j]);
        promised += now_.slope[j] * (next[j] - x_[j]);
      }
      const Misfit there = misfit(next, measurements_);
      if (!(there.value <= now_.value + kShare * promised) || !(there.value < now_.value)) continue;
      learn(next, there);
      x_ = next;
      now_ = there;
      return true;
    }
    return false;
  }
  // What the step tells of the curvature.
  void learn(const Vector& next, const Misfit& there) {
    Vector moved{};
    Vector change{};
    double product = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      moved[i] = next[i] - x_[i];
      change[i] = there.slope[i] - now_.slope[i];
      product += moved[i] * change[i];
    }
    if (!(product > 0)) return;
    Vector bent{};
    double curve = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      for (std::size_t j = 0; j < kNumbers; ++j) bent[i] += inverse_[i][j] * change[j];
      curve += bent[i] * change[i];
    }
    for (std::size_t i = 0; i < kNumbers; ++i) {
      for (std::size_t j = 0; j < kNumbers; ++j) {
        inverse_[i][j] += (1 + curve / product) * moved[i] * moved[j] / product -
                          (bent[i] * moved[j] + moved[i] * bent[j]) / product;
      }
    }
  }

  Bounds bounds_;
  std::span<const StepMeasurement> measurements_;
  Vector x_;
  Misfit now_;
  std::array<Vector, kNumbers> inverse_{};  // of the second derivatives, as far as known
};

void pin(Vector& start, Bounds& bounds, std::size_t i, double value) {
  start[i] = value;
  bounds.least[i] = value;
  bounds.most[i] = value;
}

}  // namespace

double StepModel::exchange_time(int nodes, int gpus) const {
  const double further = std::max(gpus - 2.0, kTiny);
  if (nodes > 1) return across + across_gpu * further;
  if (gpus > 1) return within + within_gpu * further;
  return kTiny + kTiny * kTiny;
}

double StepModel::step_time(int nodes, int gpus, double local_batch) const {
  const double computing = compute_time(local_batch);
  const double exchanging = exchange_time(nodes, gpus);
  const double larger = std::max(computing, exchanging);
  const double ratio = std::min(computing, exchanging) / larger;
  return larger * std::pow(1 + std::pow(ratio, overlap), 1 / overlap);
}

StepModel fit_step_model(std::span<const StepMeasurement> measurements) {
  const auto any = [&](auto holds) {
    return std::any_of(measurements.begin(), measurements.end(), holds);
  };
  if (measurements.empty()) return {};
  constexpr double kFar = 1e12;
  Vector start = {0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001};
  Bounds bounds{{kTiny, kTiny, kTiny, kTiny, kTiny, kTiny, 1},
                {kFar, kFar, kFar, kFar, kFar, kFar, 10}};
  const double first_batch = measurements.front().local_batch;
  if (!any([&](const StepMeasurement& m) { return m.local_batch != first_batch; })) {
    // One batch size does not show which part is constant: half of it is taken.
    double sum = 0;
    for (const StepMeasurement& m : measurements) sum += m.compute_time;
    pin(start, bounds, kCompute, sum / static_cast<double>(measurements.size()) / 2);
  }
  const bool spread = any([](const StepMeasurement& m) { return m.nodes > 1; });
  if (!spread) {
    pin(start, bounds, kAcross, kTiny);
    pin(start, bounds, kAcrossGpu, kTiny);
  }
  if (!any([](const StepMeasurement& m) { return m.nodes == 1 && m.gpus > 1; })) {
    pin(start, bounds, kWithin, kTiny);
    pin(start, bounds, kWithinGpu, kTiny);
  }
  if (!any([](const StepMeasurement& m) { return m.gpus > 2; })) {
    pin(start, bounds, kAcrossGpu, kTiny);
    pin(start, bounds, kWithinGpu, kTiny);
  }
  StepModel model = model_of(Fit(start, bounds, measurements).run());
  if (!spread) {
    // An exchange across nodes takes at least somewhat longer than one inside a node.
    constexpr double kSomewhat = 1.1;
    model.across = std::max(model.across, kSomewhat * model.within);
    model.across_gpu = std::max(model.across_gpu, kSomewhat * model.within_gpu);
  }
  return model;
}

BatchChoice given_batch(const BatchLimits& limits, int gpus, int batch) {
  const double local = std::ceil(static_cast<double>(batch) / gpus - kTiny);
  int passes = static_cast<int>(std::ceil(local / limits.local_most - kTiny));
  if (gpus == 1 && batch > limits.initial) passes = std::max(passes, 2);
  BatchChoice choice;
  choice.passes = std::max(1, passes);
  choice.local = static_cast<int>(std::ceil(local / choice.passes - kTiny));
  choice.local = std::min(choice.local, limits.most / (gpus * choice.passes));
  choice.local = std::max(choice.local, 1);
  return choice;
}

BatchChoice best_batch(const StepModel& model, const GradientNoise& noise,
                       const BatchLimits& limits, int nodes, int gpus) {
  constexpr int kSizes = 50;
  const double least = std::max(limits.initial, limits.local_least * gpus);
  const double ratio = limits.most / least;
  BatchChoice best;
  best.local = limits.local_least;
  int last_local = 0;
  int last_passes = 0;
  for (int i = 0; i < kSizes; ++i) {
    const double local = least * std::pow(ratio, i / (kSizes - 1.0)) / gpus;
    int passes = static_cast<int>(std::ceil(local / limits.local_most - kTiny));
    if (gpus == 1 && local > limits.initial + kTiny) passes = std::max(passes, 2);
    passes = std::max(passes, 1);
    const int on_gpu = static_cast<int>(std::ceil(local / passes - kTiny));
    if (on_gpu < limits.local_least || on_gpu > limits.local_most) continue;
    if (on_gpu == last_local && passes == last_passes) continue;
    last_local = on_gpu;
    last_passes = passes;
    const double samples = static_cast<double>(gpus) * on_gpu * passes;
    const double seconds =
        (passes - 1) * model.compute_time(on_gpu) + model.step_time(nodes, gpus, on_gpu);
    const double goodput = samples / seconds * noise.efficiency(samples / limits.initial);
    if (goodput > best.goodput) best = {on_gpu, passes, goodput};
  }
  // Rounding up may have gone a little too far.
  best.local = std::max(1, std::min(best.local, limits.most / (gpus * best.passes)));
  return best;
}

}  // namespace muster
